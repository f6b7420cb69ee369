import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  badge,
  barriers,
  cutOff,
  moving,
  openBrowser,
  picture,
  signIn,
  visitor,
  type World,
} from "./browser";
import { INSIDES } from "./insides";
import { type Full, fullServer, PLACES, type Place, visit } from "./places";
import type { SeededServer } from "./seed";

const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 320, height: 700 };

describe("G18 nothing keeps people out, in either theme, and nothing is cut off at 320 px", () => {
  let seeded: SeededServer;
  let here: World;
  let full: Full;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    ({ seeded, here, ...full } = await fullServer());
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser, { colorScheme: "light" }));
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  /** Looks at the page in both themes and at its narrowest; the visitor asked for no motion. */
  async function expectOpen(name: string): Promise<void> {
    expect(await moving(page), name).toEqual([]);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await barriers(page), `${name}, ${colorScheme}`).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize(NARROW);
    await picture(page, `access-${name}-narrow`);
    const wide = await cutOff(page);
    await page.setViewportSize(WIDE);
    expect(wide, `${name}, ${NARROW.width} px`).toEqual([]);
  }

  async function expectAllOpen(places: readonly Place[]): Promise<void> {
    for (const place of places) {
      await visit(page, place);
      await expectOpen(place.name);
    }
  }

  it("the way in", async () => {
    await page.goto(`${here.url}/dashboard/`);
    await page.getByRole("button", { name: "Use an API key instead" }).click();
    await expectOpen("login");
    await signIn(page, here, "/");
    await badge(page, "Live").waitFor();
  });

  it("these tests see what they look for", async () => {
    const spoil = (html: string) =>
      page.locator("main").evaluate((main, words) => {
        const box = main.appendChild(document.createElement("div"));
        box.innerHTML = words;
      }, html);
    const shade = () =>
      page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = await shade();
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await shade()).not.toBe(light);
    await spoil('<input type="text" size="500">');
    expect(await barriers(page)).toHaveLength(1);
    expect(await cutOff(page)).not.toEqual([]);
    await page.emulateMedia({ reducedMotion: "no-preference" });
    expect((await moving(page)).length).toBeGreaterThan(10);
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.reload();
  });

  it("the sheet of keys and the palette do not move either", async () => {
    await badge(page, "Live").waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    expect(await moving(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").first().waitFor();
    expect(await moving(page)).toEqual([]);
    await page.keyboard.press("Escape");
  });

  it.each(PLACES.map((place) => [place.name, place] as const))("%s", async (_, place) => {
    await expectAllOpen([place]);
  });

  it.each(INSIDES)("%s", async (_, placesOf) => {
    await expectAllOpen(placesOf(full));
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
