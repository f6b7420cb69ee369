import type { Browser, Page, WebSocketRoute } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Agent, Bead, UsageReport } from "../src/api/types";
import { tallyOf } from "../src/features/agents/views";
import { money } from "../src/ui/format";
import {
  account,
  badge,
  openBrowser,
  picture,
  publish,
  read,
  signIn,
  visitor,
  type World,
} from "./browser";
import { type Seed, SeededServer } from "./seed";

/** How long the server stays away. */
const AWAY_MS = 10_000;
const HOUR_MS = 3_600_000;
const COLUMNS = ["open", "in-progress", "review", "done"];

describe("when things go wrong", () => {
  let seeded: SeededServer;
  let seed: Seed;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    ({ seeded, seed, here } = await SeededServer.start());
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser));
    await signIn(page, here, "/agents?view=teams");
    await badge(page, "Live").waitFor();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  /** Goes to a page by its keys: a reload would hide what was missed. */
  async function go(on: Page, key: string): Promise<void> {
    await on.keyboard.press("g");
    await on.keyboard.press(key);
  }

  /** Everything that the pages count is what the API says, as soon as both stand still. */
  async function expectSums(on: Page): Promise<void> {
    // A list under the mouse keeps still.
    await on.mouse.move(5, 5);
    await go(on, "a");
    await on.getByRole("button", { name: "Teams" }).click();
    await expect.poll(() => agentsBehind(on), { timeout: 30_000 }).toEqual([]);
    await go(on, "c");
    await expect.poll(() => beadsBehind(on), { timeout: 30_000 }).toEqual([]);
    await go(on, "$");
    await expect.poll(() => costsBehind(on), { timeout: 30_000 }).toEqual([]);
  }

  /** What differs between page and API: agents by state. */
  async function agentsBehind(on: Page): Promise<string[]> {
    const { items } = await read<{ items: Agent[] }>(here, "/api/v1/agents?limit=100");
    const shown = await on.getByRole("region", { name: "No team" }).innerText();
    const wanted = `${items.length} agents: ${tallyOf(items)}`;
    return shown.includes(wanted) ? [] : [`${wanted} is not in ${shown.slice(0, 120)}`];
  }

  /** What differs between page and API: beads by status. */
  async function beadsBehind(on: Page): Promise<string[]> {
    const filter = encodeURIComponent(JSON.stringify({ status: COLUMNS }));
    const path = `/api/v1/beads?limit=100&filter=${filter}`;
    const { items } = await read<{ items: Bead[] }>(here, path);
    const wanted = COLUMNS.map((one) => items.filter(({ status }) => status === one).length);
    const shown = await on.locator("[data-column] [data-count]").allTextContents();
    return wanted.join() === shown.join() ? [] : [`${wanted} and not ${shown}`];
  }

  /** What differs between page and API: what was spent. */
  async function costsBehind(on: Page): Promise<string[]> {
    const { total } = await read<UsageReport>(here, "/proxy/v1/usage?groupBy=model");
    const shown = await on.locator('[data-tile="This month"]').innerText();
    const wanted = money(total.costMicros);
    return shown.includes(wanted) ? [] : [`${wanted} is not in ${shown}`];
  }

  it("the sums of the pages are those of the API", async () => {
    await expectSums(page);
  });

  it("G4 a server that is killed for 10 s is said to be away, and nothing final can be done", async () => {
    await go(page, "r");
    await page.locator(`[data-review="${seed.inReview.bead}"]`).click();
    await page.getByLabel("About all of it").fill("half a thought");
    const land = page.getByRole("button", { name: "Approve and land" });
    expect(await land.getAttribute("aria-disabled")).toBeNull();
    // While it works: one more agent is about to begin.
    await seeded.godel("agent", "spawn", "Say more [[work more.txt more]]");
    const killed = Date.now();
    await seeded.server.kill();
    await page.getByText(/^Reconnecting, data as of \d\d:\d\d:\d\d$/).waitFor();
    await page.getByRole("button", { name: "Retry now" }).waitFor();
    await expect.poll(() => land.getAttribute("aria-disabled")).toBe("true");
    await picture(page, "chaos-away");
    const left = killed + AWAY_MS - Date.now();
    await new Promise((resolve) => setTimeout(resolve, left));
    await page.getByText(/^Reconnecting, data as of/).waitFor();
    here = await seeded.server.start();
    await page.getByText(/^Back online, \d+ updates?$/).waitFor({ timeout: 30_000 });
    await page.getByText(/^Back online/).waitFor({ state: "detached" });
    await expect.poll(() => land.getAttribute("aria-disabled")).toBeNull();
  });

  it("G4 a draft outlives it, and a reload", async () => {
    const draft = page.getByLabel("About all of it");
    expect(await draft.inputValue()).toBe("half a thought");
    await page.reload();
    await draft.waitFor();
    expect(await draft.inputValue()).toBe("half a thought");
    await draft.fill("");
    await draft.blur();
    await badge(page, "Live").waitFor();
  });

  it("G3 afterwards all sums are those of the API again", async () => {
    await expectSums(page);
  });

  it("G3 with a fifth of all events lost, the pages still come to what the API says", async () => {
    const { page: own } = await visitor(browser);
    let seen = 0;
    let lost = 0;
    await dropping(own, () => {
      seen += 1;
      if (seen % 5 !== 0) return false;
      lost += 1;
      return true;
    });
    await signIn(own, here, "/agents?view=teams");
    await badge(own, "Live").waitFor();
    await expectSums(own);
    for (const at of [1, 2, 3, 4, 5, 6]) {
      const { id } = await seeded.json<{ id: string }>("bead", "create", `Something more ${at}`);
      if (at % 2 === 0) await seeded.godel("bead", "status", id, "in-progress");
    }
    await seeded.godel("agent", "spawn", "Say again [[work again.txt again]]");
    await seeded.godel("agent", "pause", seed.busy);
    await expectSums(own);
    await seeded.godel("agent", "resume", seed.busy);
    await expectSums(own);
    expect(lost).toBeGreaterThan(3);
    await own.context().close();
  });

  it("G3 event 17 is lost, and asked for again", async () => {
    const { page: own } = await visitor(browser);
    const wanted: { sequence: number | undefined } = { sequence: undefined };
    let lost = 0;
    await dropping(own, (text) => {
      if (!text.includes(`"sequence":${wanted.sequence},`)) return false;
      lost += 1;
      return lost === 1;
    });
    await signIn(own, here, "/beads");
    await badge(own, "Live").waitFor();
    const { items } = await read<{ items: { sequence: number }[] }>(
      ...[here, "/api/v1/events?limit=1&sort=-sequence"],
    );
    wanted.sequence = (items[0]?.sequence ?? 0) + 17;
    for (let at = 0; at < 16; at += 1) await publish(here, "demo:tick", { at });
    await seeded.godel("bead", "update", seed.beads[0] ?? "", "--title", "The seventeenth");
    // Only what comes after it shows that it is missing.
    await publish(here, "demo:tick", { at: 18 });
    await own.getByText("The seventeenth").first().waitFor();
    expect(lost).toBe(2);
    await own.context().close();
  });

  it("G3 the last events are lost, and noticed by what the server says it sent", async () => {
    const { page: own } = await visitor(browser);
    const seen = { isLosing: false, lost: 0, sincePong: -1, askedAfter: -1 };
    await own.routeWebSocket(/\/events$/, (socket: WebSocketRoute) => {
      const server = socket.connectToServer();
      socket.onMessage((message) => {
        const isAsked = message.toString().includes('"type":"subscribe"');
        if (isAsked && seen.askedAfter < 0) seen.askedAfter = seen.sincePong;
        server.send(message);
      });
      server.onMessage((message) => {
        const text = message.toString();
        const hasEvents = /^\{[^{]*"type":"events?"/.test(text);
        if (hasEvents && seen.isLosing) seen.lost += 1;
        else socket.send(message);
        if (hasEvents && seen.sincePong >= 0) seen.sincePong += 1;
        // All is lost until the server gives a sign of life; no later event shows that.
        if (seen.lost > 0 && text.includes('"type":"pong"')) {
          seen.isLosing = false;
          seen.sincePong = 0;
          seen.askedAfter = -1;
        }
      });
    });
    await signIn(own, here, "/beads");
    await badge(own, "Live").waitFor();
    // A list that is still being read would show the change without any event.
    await own.getByRole("row").nth(1).waitFor();
    await own.waitForLoadState("networkidle");
    seen.isLosing = true;
    await seeded.godel("bead", "update", seed.beads[0] ?? "", "--title", "The last of all");
    await own.getByText("The last of all").first().waitFor({ timeout: 60_000 });
    expect(seen.lost).toBeGreaterThan(0);
    expect(seen.askedAfter).toBe(0);
    await own.context().close();
  });

  it.each([-3, 3])("G13 a clock that is %i hours off tells the same times", async (hours) => {
    const { page: own } = await visitor(browser);
    await own.addInitScript(shiftClock, hours * HOUR_MS);
    await signIn(own, here, "/agents");
    await own.locator("[data-agent]").first().waitFor();
    for (const [key, goal] of [
      ["a", "[data-agent]"],
      ["c", "[data-column] time"],
      ["b", "main time"],
      ["r", "[data-review] time"],
      ["m", "[data-landing] time"],
      ["i", "main time"],
    ] as const) {
      await go(own, key);
      await own.locator(goal).first().waitFor();
      const times = await own.locator("main time").allInnerTexts();
      expect(times.filter((text) => !/^(now|\d+[sm] ago)$/.test(text))).toEqual([]);
      expect(await own.locator("main").innerText(), key).not.toMatch(/\b[23]h\b|\bin \d/);
    }
    await picture(own, `chaos-clock-${hours}`);
    await account(own).waitFor();
    await own.context().close();
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});

/** Loses those frames with events that `isLost` says, between server and page. */
async function dropping(page: Page, isLost: (text: string) => boolean): Promise<void> {
  await page.routeWebSocket(/\/events$/, (socket: WebSocketRoute) => {
    const server = socket.connectToServer();
    server.onMessage((message) => {
      const text = message.toString();
      const hasEvents = /^\{[^{]*"type":"events?"/.test(text);
      if (!hasEvents || !isLost(text)) socket.send(message);
    });
  });
}

/** Runs in the page, before everything else. */
function shiftClock(ms: number): void {
  const Right = Date;
  const now = () => Right.now() + ms;
  window.Date = new Proxy(Right, {
    construct: (_, words: [number]) => (words.length > 0 ? new Right(...words) : new Right(now())),
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
  });
}
