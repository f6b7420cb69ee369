import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { badge, openBrowser, signIn, visitor, type World } from "./browser";
import { insidesOf } from "./insides";
import { type Full, fullServer, PLACES, type Place, visit } from "./places";
import type { SeededServer } from "./seed";

describe("G13 times, ids, numbers and money look the same everywhere", () => {
  let seeded: SeededServer;
  let here: World;
  let full: Full;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    ({ seeded, here, ...full } = await fullServer());
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser));
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await signIn(page, here, "/");
    await badge(page, "Live").waitFor();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  const everywhere = (): readonly Place[] => [...PLACES, ...insidesOf(full)];

  it("this test sees what it looks for", async () => {
    await page.locator("main").evaluate((main) => {
      main.appendChild(document.createElement("div")).innerHTML = `
        <time>yesterday</time>
        <time datetime="2026-11-16T02:51:00Z" title="Monday">16 Nov 2026</time>
        <p>Made on Nov 16, 2026, 2:51 AM</p>
        <p>0198f2c1-7a3b-7c00-8a00-0123456789ab</p>
        <p>It cost $0.42 of $3</p>
        <b>42</b>`;
    });
    expect(await faultsOf(page)).toHaveLength(8);
    await page.reload();
    await badge(page, "Live").waitFor();
  });

  it("on every page, in its panels and drawers", async () => {
    const faults: string[] = [];
    let times = 0;
    let amounts = 0;
    for (const place of everywhere()) {
      await visit(page, place);
      faults.push(...(await faultsOf(page)).map((fault) => `${place.name}: ${fault}`));
      times += await page.locator("time").count();
      amounts += await page.locator("[data-micros]").count();
    }
    expect(faults).toEqual([]);
    // Nothing wrong with nothing there would say little.
    expect(times).toBeGreaterThan(50);
    expect(amounts).toBeGreaterThan(10);
  });

  it("a click on a short id copies the whole of it, wherever it stands", async () => {
    let copied = 0;
    for (const place of everywhere()) {
      await visit(page, place);
      // What is behind a drawer cannot be pressed.
      const front = (await page.locator("dialog[open]").count()) > 0 ? "dialog[open] " : "";
      const first = page.locator(`${front}button[title^="Copy "]:visible`).first();
      if ((await first.count()) === 0) continue;
      const id = (await first.getAttribute("title"))?.replace("Copy ", "");
      await first.click();
      const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
      await expect.poll(clipboard, { message: place.name }).toBe(id);
      copied += 1;
    }
    expect(copied).toBeGreaterThan(8);
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});

/** What on the page is written in another way than everywhere else; empty is good. */
function faultsOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    /** What people, programs and models wrote is shown as it is. */
    const FOREIGN =
      "pre, code, textarea, option, kbd, script, [role=log], [class*=preview], [class*=brief]";
    const RELATIVE = /^(now|in \d+(s|m|h|d|mo|y)|\d+(s|m|h|d|mo|y) ago)$/;
    const CLOCK = /^\d\d:\d\d:\d\d(\.\d{3})?$/;
    const DATE = /\d{4}-\d\d-\d\dT\d\d:|\d{4},? (at )?\d{1,2}:\d\d/;
    const WHOLE_ID =
      /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{40}\b/;
    const NUMBER = /^[+−-]?\$?\d[\d,.]*( ?%| ?[kKMG]?B| m?s)?$/;
    const faults: string[] = [];

    const timeFaults = (time: HTMLTimeElement) => {
      const text = time.textContent?.trim() ?? "";
      if (Number.isNaN(Date.parse(time.dateTime)) || time.title === "") {
        faults.push(`a time without its date: ${time.outerHTML}`);
      }
      if (!RELATIVE.test(text) && !CLOCK.test(text)) faults.push(`no relative time: ${text}`);
    };
    const amountFaults = (text: string) => {
      for (const [amount, whole = "", part = ""] of text.matchAll(/\$([\d,]+)(?:\.(\d+))?/g)) {
        const isSmall = whole === "0" && Number(part) > 0;
        if (part.length !== (isSmall ? 4 : 2)) faults.push(`an amount as ${amount}: ${text}`);
      }
    };
    const isTabular = (element: Element) => {
      const { fontVariantNumeric, fontFamily } = getComputedStyle(element);
      return fontVariantNumeric.includes("tabular-nums") || /mono/i.test(fontFamily);
    };

    document.querySelectorAll("time").forEach(timeFaults);
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent?.trim() ?? "";
      const parent = node.parentElement;
      if (text === "" || !parent || parent.closest(FOREIGN) || !parent.checkVisibility()) continue;
      if (DATE.test(text) && !parent.closest("time")) faults.push(`a date: ${text}`);
      if (WHOLE_ID.test(text)) faults.push(`a whole id: ${text}`);
      amountFaults(text);
      if (NUMBER.test(parent.textContent?.trim() ?? "") && !isTabular(parent)) {
        faults.push(`a number that does not line up: ${parent.outerHTML.slice(0, 160)}`);
      }
    }
    return faults;
  });
}
