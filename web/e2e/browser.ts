import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

/** What the journeys need to know about the server under test. */
export interface World {
  url: string;
  loginUrl: string;
  key: string;
}

export function world(): World {
  return {
    url: need("GODEL_TEST_URL").replace(/\/+$/, ""),
    loginUrl: need("GODEL_TEST_LOGIN_URL"),
    key: need("GODEL_TEST_KEY"),
  };
}

function need(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; see e2e/README.md`);
  return value;
}

export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.GODEL_TEST_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
}

/** A page of a fresh visitor; `problems` collects script errors and blocked resources. */
export async function visitor(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; problems: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    const text = message.text();
    if (message.type() === "error" && /content security policy/i.test(text)) problems.push(text);
  });
  return { page, problems };
}

/** Publishes one event through the API, as a program would. */
export async function publish(world: World, type: string, payload: object = {}): Promise<void> {
  const response = await fetch(`${world.url}/api/v1/events`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": world.key },
    body: JSON.stringify({ type, payload }),
  });
  if (!response.ok) {
    throw new Error(`publishing answered ${response.status}: ${await response.text()}`);
  }
}

/** Keeps a picture of the page when a folder was asked for. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.GODEL_TEST_SCREENSHOTS;
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}
