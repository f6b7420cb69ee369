import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  account,
  badge,
  openBrowser,
  picture,
  publish,
  rows,
  visitor,
  type World,
} from "./browser";
import { OwnServer } from "./server";

const WRITERS = 4;
/** How long the writers are at work before the crash. */
const WRITE_MS = 500;

describe("a server that crashes", () => {
  let server: OwnServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  /** Texts of the events whose publishing was answered. */
  const answered: string[] = [];

  beforeAll(async () => {
    server = await OwnServer.create();
    here = await server.start();
    browser = await openBrowser();
    // High enough for the list to draw all of its rows.
    ({ page, problems } = await visitor(browser, { viewport: { width: 1280, height: 8_000 } }));
    await page.goto(here.loginUrl);
    await badge(page, "Live").waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
  });

  /** Publishes one after the other until the server is gone. */
  async function write(writer: string): Promise<void> {
    for (let at = 1; ; at += 1) {
      const mark = `${writer}-${at}.`;
      try {
        await publish(here, "load:tick", { mark });
      } catch {
        return;
      }
      answered.push(mark);
      await pause(20);
    }
  }

  it("what the command line publishes is on the page at once", async () => {
    await server.cli("events", "publish", "deploy:finished", "--payload", '{"version":"1.4"}');
    await rows(page, "deploy:finished").waitFor();
    expect(await rows(page, "deploy:finished").innerText()).toContain("version 1.4");
  });

  it("kill -9 under writes is seen, and said", async () => {
    const writers = Array.from({ length: WRITERS }, (_, writer) => write(`writer-${writer}`));
    await pause(WRITE_MS);
    await server.kill();
    await Promise.all(writers);
    await badge(page, "Reconnecting").waitFor();
    await page.getByRole("region", { name: "Server health" }).getByText("Not reachable").waitFor();
    expect(answered.length).toBeGreaterThan(WRITERS);
    await picture(page, "down");
  });

  it("the way out and the way back fit a narrow screen", async () => {
    const before = page.viewportSize() ?? { width: 0, height: 0 };
    await page.setViewportSize({ width: 360, height: before.height });
    await page.getByRole("button", { name: "Retry now" }).waitFor();
    const end = await account(page).evaluate((button) => button.getBoundingClientRect().right);
    expect(end).toBeLessThanOrEqual(360);
    await page.setViewportSize(before);
  });

  it("the page comes back by itself, still signed in", async () => {
    here = await server.start();
    await publish(here, "demo:back", { mark: "back." });
    await badge(page, "Live").waitFor({ timeout: 20_000 });
    await rows(page, "back.").waitFor();
    expect(page.url()).toBe(`${here.url}/dashboard/`);
    await picture(page, "after-crash");
  });

  it("no event is lost, repeated or out of order", async () => {
    const keys = await rows(page).evaluateAll((all) => all.map((row) => row.dataset.row ?? ""));
    const numbers = keys.map((key) => Number(key.slice(1)));
    const newest = numbers[0] ?? 0;
    expect(numbers).toEqual(Array.from({ length: newest }, (_, index) => newest - index));
    const text = await page.getByRole("list", { name: "Events, newest first" }).innerText();
    expect(answered.filter((mark) => text.split(mark).length !== 2)).toEqual([]);
    expect(problems).toEqual([]);
  });
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
