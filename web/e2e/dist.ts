import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext } from "playwright-core";

/** The same policy as `crates/server/src/web/mod.rs`. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const TYPES: Record<string, string> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

const files = new Map<string, Promise<Buffer>>();

/** Every page asks for many small files again and again. */
function fileOf(folder: string, name: string): Promise<Buffer> {
  const known = files.get(name) ?? readFile(join(folder, name));
  files.set(name, known);
  return known;
}

/**
 * Serves the pages from a folder instead of from inside the program, if `GODEL_TEST_DIST` names
 * one: a page can be tried without building the program. Everything else is the real server's.
 */
export async function serveDist(context: BrowserContext): Promise<void> {
  const folder = process.env.GODEL_TEST_DIST;
  if (!folder) return;
  await context.route(/^https?:\/\/[^/]+\/dashboard(\/|$|\?)/, async (route) => {
    const { pathname } = new URL(route.request().url());
    const wanted = pathname.replace(/^\/dashboard\/?/, "");
    const isFile = wanted !== "" && existsSync(join(folder, wanted));
    const name = isFile ? wanted : "index.html";
    await route.fulfill({
      body: await fileOf(folder, name),
      contentType: TYPES[name.split(".").at(-1) ?? ""] ?? "application/octet-stream",
      headers: { "Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer" },
    });
  });
}
