import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import type { NewEvent } from "../src/api/types";
import { serveDist } from "./dist";

/** What the journeys need to know about a server. */
export interface World {
  url: string;
  /** Opens the dashboard, once. */
  loginUrl: string;
  key: string;
}

/** The server that is running already. */
export function world(): World {
  return {
    url: need("GODEL_TEST_URL").replace(/\/+$/, ""),
    loginUrl: need("GODEL_TEST_LOGIN_URL"),
    key: need("GODEL_TEST_KEY"),
  };
}

/** Reads a variable that must be set. */
export function need(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; see e2e/README.md`);
  return value;
}

/** How long something may take to come about; a busy machine is no mistake of the page. */
const PATIENCE_MS = 20_000;

let browsers: Browser[] = [];

export async function openBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: process.env.GODEL_TEST_CHROMIUM ?? "/usr/bin/chromium",
    // Root cannot have the sandbox, and the browser sees our own pages only.
    chromiumSandbox: false,
    args: [
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-dev-shm-usage",
      "--disable-gpu",
      // A page from a folder has no address of its own, and a browser would not let it call us.
      ...(process.env.GODEL_TEST_DIST ? ["--disable-features=LocalNetworkAccessChecks"] : []),
      "--disable-sync",
      "--no-first-run",
    ],
  });
  browsers = [...browsers.filter((earlier) => earlier.isConnected()), browser];
  return browser;
}

/** The pages that are open right now, in all browsers. */
export function openPages(): Page[] {
  return browsers.flatMap((browser) => browser.contexts()).flatMap((context) => context.pages());
}

let foreign: string[] = [];

/** Notes what a page asks of another host than its own: the dashboard is whole without the internet. */
function noteForeign(url: string, page: string): void {
  const asked = new URL(url);
  const { host } = new URL(page);
  // A page that is not there yet has no host.
  if (!/^(http|ws)s?:$/.test(asked.protocol) || host === "") return;
  if (asked.host !== host) foreign.push(`${page} asked ${url}`);
}

/** What pages asked of other hosts since this was called last. */
export function takeForeign(): string[] {
  const found = foreign;
  foreign = [];
  return found;
}

/** A page of a fresh visitor; `problems` collects script errors and blocked resources. */
export async function visitor(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; problems: string[] }> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    // Nothing is clicked before it stands still, and nothing is asked of how it moves.
    reducedMotion: "reduce",
    ...options,
  });
  await serveDist(context);
  context.on("request", (request) => {
    if (!request.isNavigationRequest()) noteForeign(request.url(), request.frame().url());
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  page.on("websocket", (socket) => noteForeign(socket.url(), page.url()));
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    const text = message.text();
    if (message.type() === "error" && /content security policy/i.test(text)) problems.push(text);
  });
  return { page, problems };
}

/** The state of the live connection, as the page shows it. */
export function badge(page: Page, text: string) {
  return page.getByRole("banner").getByText(text, { exact: true });
}

/** The button that says who is logged in; it is there for nobody else. */
export function account(page: Page) {
  return page.getByRole("button", { name: /^Account: / });
}

/** Signs out through the menu and waits for the way in. */
export async function signOut(page: Page): Promise<void> {
  await account(page).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Password", { exact: true }).waitFor();
}

/** Signs in with an API key on the page that asks for it. */
export async function signInWithKey(page: Page, key: string): Promise<void> {
  const field = page.getByLabel("API key", { exact: true });
  const toggle = page.getByRole("button", { name: "Use an API key instead" });
  await toggle.waitFor();
  if ((await field.count()) === 0) await toggle.click();
  await field.fill(key);
  await page.getByRole("button", { name: "Sign in with the key" }).click();
}

/** Signs in with the owner's key, at a place below `/dashboard`. */
export async function signIn(page: Page, { url, key }: World, place = "/"): Promise<void> {
  await page.goto(`${url}/dashboard${place}`);
  await signInWithKey(page, key);
  await account(page).waitFor();
}

/** Chooses a theme as a person did on an earlier visit. */
export async function chooseTheme(page: Page, theme: "light" | "dark"): Promise<void> {
  await page.addInitScript((name) => localStorage.setItem("godel.theme", name), theme);
}

/** Looks at a place in one theme after the other, each as a visitor of its own. */
export async function eachTheme(
  browser: Browser,
  here: World,
  place: string,
  look: (page: Page, theme: "light" | "dark") => Promise<void>,
): Promise<void> {
  for (const theme of ["light", "dark"] as const) {
    const { page } = await visitor(browser);
    await chooseTheme(page, theme);
    await signIn(page, here, place);
    await look(page, theme);
    await page.context().close();
  }
}

/** What axe finds on the page that keeps people out; empty is good. */
export async function barriers(page: Page): Promise<string[]> {
  // The page's policy lets no foreign script in, but a test may bring its own.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(await axeSource());
  const found = await page.evaluate(() =>
    axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"],
      resultTypes: ["violations"],
      preload: false,
    }),
  );
  return found.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}

/** What sticks out of the page to the right; empty is good, the page is never moved sideways. */
export async function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const pages = [document.documentElement, ...document.querySelectorAll("main")];
    const tooWide = pages.filter((box) => box.scrollWidth > box.clientWidth);
    const found = tooWide.flatMap((box) =>
      [...box.querySelectorAll("*")].filter(
        (one) => one.getBoundingClientRect().right > box.getBoundingClientRect().right + 1,
      ),
    );
    const names = found.map((one) => one.outerHTML.slice(0, 120));
    return tooWide.length > 0 ? ["too wide", ...names.slice(0, 3)] : [];
  });
}

/** What moves on the page, or would at the next change; empty is good for who asked for no motion. */
export async function moving(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    /** Shorter than a frame is no motion. */
    const SEEN_MS = 1;
    const isSeen = (times: string) => times.split(", ").some((time) => msOf(time) > SEEN_MS);
    const msOf = (time: string) => Number.parseFloat(time) * (time.endsWith("ms") ? 1 : 1_000);
    const moves = (style: CSSStyleDeclaration) =>
      (style.animationName !== "none" && isSeen(style.animationDuration)) ||
      isSeen(style.transitionDuration) ||
      style.scrollBehavior === "smooth";
    const found = document
      .getAnimations()
      .filter(({ effect }) => Number(effect?.getComputedTiming().endTime) > SEEN_MS)
      .map((one) => `an animation that runs: ${(one as CSSAnimation).animationName ?? one.id}`);
    for (const element of document.querySelectorAll("*")) {
      const parts = [
        "",
        "::before",
        "::after",
        ...(element.matches("dialog") ? ["::backdrop"] : []),
      ];
      for (const part of parts) {
        if (moves(getComputedStyle(element, part || null))) {
          found.push(`${element.outerHTML.slice(0, 120)} ${part}`);
        }
      }
    }
    return found;
  });
}

async function axeSource(): Promise<string> {
  return readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
}

declare const axe: typeof import("axe-core");

/** Lines of the event list that contain a text. */
export function rows(page: Page, text = "") {
  return page.locator("[data-row]", { hasText: text });
}

/** Publishes one event through the API, as a program would. */
export async function publish(world: World, type: string, payload = {}): Promise<void> {
  const event: NewEvent = { type, payload };
  const response = await fetch(`${world.url}/api/v1/events`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": world.key },
    body: JSON.stringify(event),
  });
  if (!response.ok) {
    throw new Error(`publishing answered ${response.status}: ${await response.text()}`);
  }
}

/** Reads something from the API as the owner. */
export async function read<T>({ url, key }: World, path: string): Promise<T> {
  const response = await fetch(`${url}${path}`, { headers: { "X-API-Key": key } });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return ((await response.json()) as { data: T }).data;
}

/** Keeps a picture of the page when a folder was asked for. */
export async function picture(page: Page, name: string, fullPage = false): Promise<void> {
  const folder = process.env.GODEL_TEST_SCREENSHOTS;
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`), fullPage });
}
