import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  badge,
  barriers,
  cutOff,
  openBrowser,
  picture,
  signIn,
  visitor,
  type World,
} from "./browser";
import { fullServer, PLACES, type Place, visit } from "./places";
import type { Seed, SeededServer } from "./seed";

const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 320, height: 700 };

describe("G18 nothing keeps people out, in either theme, and nothing is cut off at 320 px", () => {
  let seeded: SeededServer;
  let seed: Seed;
  let here: World;
  let run: string;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    ({ seeded, seed, here, run } = await fullServer());
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser, { colorScheme: "light" }));
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  /** Looks at the page in both themes and at its narrowest. */
  async function expectOpen(name: string): Promise<void> {
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
    await page.reload();
  });

  it.each(PLACES.map((place) => [place.name, place] as const))("%s", async (_, place) => {
    await expectAllOpen([place]);
  });

  it("all about an agent, and the drawer for a new one", async () => {
    const at = (tab: string) => `/agents/${seed.inReview.agent}?tab=${tab}`;
    const about = (tab: string, sees: string): Place => ({
      ...{ name: `agent-${tab}`, path: at(tab), sees },
    });
    await expectAllOpen([
      about("timeline", 'ul[aria-label="Timeline"] li, ol[aria-label="Timeline"] li'),
      about("terminal", "[role=log] >> text=is-committed"),
      about("changes", "text=hello from an agent"),
      about("context", '[role=img][aria-label^="Tokens of the last"]'),
      about("cost", 'table[aria-label="Requests to models"]'),
      about("session", '[aria-label="Session tree"]'),
      about("events", "button:has-text('agent:complete')"),
      { name: "agents-table", path: "/agents?view=table", sees: "main [role=grid] [role=row]" },
      { name: "agents-spawn", path: "/agents?spawn=1", sees: "dialog textarea" },
    ]);
  });

  it("a bead beside its list and its board", async () => {
    const tabs = ["about", "links", "work", "activity"];
    await expectAllOpen([
      ...tabs.map((tab) => ({
        name: `bead-${tab}`,
        path: `/beads?peek=${seed.inReview.bead}&tab=${tab}`,
        sees: `aside [role=tab][aria-selected=true] >> text=/^${tab}/i`,
      })),
      {
        name: "convoys-bead",
        path: `/convoys?peek=${seed.beads[0]}`,
        sees: "aside [role=tab][aria-selected=true]",
      },
    ]);
  });

  it("a review with its change", async () => {
    const path = `/review/${seed.inReview.bead}`;
    await expectAllOpen([
      { name: "review-change", path, sees: "[data-line]" },
      { name: "review-split", path: `${path}?diff=split`, sees: "[data-line]" },
    ]);
  });

  it("tasks, and a run as graph, times and list", async () => {
    const path = `/queue/runs/${run}`;
    await expectAllOpen([
      { name: "runs", path: "/queue?tab=workflows", sees: "[role=grid] [data-row]" },
      { name: "run-graph", path: `${path}?step=build`, sees: 'button[data-step="agree"]' },
      { name: "run-time", path: `${path}?view=time`, sees: "main h1" },
      { name: "run-list", path: `${path}?view=list`, sees: '[data-line="agree"]' },
      { name: "calls", path: "/costs?tab=requests", sees: "main [role=grid] [data-row]" },
    ]);
  });

  it("forms for teams and workflows, and a workflow beside its list", async () => {
    const stored = "/queue?tab=workflows&flows=stored";
    await expectAllOpen([
      { name: "teams-new", path: "/teams?new=1", sees: "dialog textarea" },
      { name: "workflow", path: `${stored}&workflow=release`, sees: "aside pre" },
      { name: "workflow-save", path: `${stored}&save=1`, sees: "dialog textarea" },
      { name: "workflow-run", path: `${stored}&start=release`, sees: "dialog select" },
    ]);
  });

  it("every section of the settings", async () => {
    await visit(page, { name: "settings", path: "/settings", sees: "main h1" });
    const links = page.getByRole("navigation", { name: "Settings" }).getByRole("link");
    const paths = await links.evaluateAll((all) =>
      all.map((one) => new URL((one as HTMLAnchorElement).href).pathname),
    );
    expect(paths.length).toBeGreaterThan(8);
    await expectAllOpen(
      paths.map((path) => ({
        name: `settings-${path.split("/").at(-1)}`,
        path: path.replace("/dashboard", ""),
        sees: `a[href="${path}"][aria-current]`,
      })),
    );
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
