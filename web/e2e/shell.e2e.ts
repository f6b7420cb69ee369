import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Agent, Bead } from "../src/api/types";
import { undoOf } from "./acts";
import {
  badge,
  chooseTheme,
  openBrowser,
  picture,
  publish,
  rows,
  signIn,
  visitor,
  type World,
} from "./browser";
import { type Seed, SeededServer } from "./seed";

describe("the shell", () => {
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
    await signIn(page, here, "/agents");
    await badge(page, "Live").waitFor();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  const card = (name: string) => page.locator(`[data-agent="${name}"]`);

  it("A1 shows who needs a person first, then who is busy", async () => {
    await card(seed.busy).waitFor();
    const names = await page
      .locator("[data-agent]")
      .evaluateAll((all) => all.map((one) => one.getAttribute("data-agent")));
    expect(names.indexOf(seed.waiting)).toBe(0);
    expect(names.indexOf(seed.busy)).toBe(1);
    await picture(page, "agents");
  });

  it("G3 a change by somebody else shows without a reload", async () => {
    await seeded.godel("agent", "pause", seed.busy);
    await card(seed.busy).getByText("Paused", { exact: true }).waitFor();
    await seeded.godel("agent", "resume", seed.busy);
    await card(seed.busy).getByText("Busy", { exact: true }).waitFor();
  });

  it("G2 the address holds the view and the filter, and a reload restores them", async () => {
    await page.getByRole("button", { name: "Table" }).click();
    await page.getByLabel("Filter the agents").fill(seed.busy);
    await page.getByRole("row").nth(2).waitFor({ state: "detached" });
    await page.reload();
    await page.getByRole("grid", { name: "Agents" }).waitFor();
    await expect.poll(() => page.getByRole("row").count()).toBe(2);
    expect(page.url()).toContain(`q=${seed.busy}`);
    await picture(page, "agents-table");
    await page.getByRole("button", { name: "Clear the filter" }).click();
    await page.getByRole("row").nth(2).waitFor();
    await page.mouse.move(5, 5);
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.getByText("1 agent selected").waitFor();
    await picture(page, "bulk");
    await page.keyboard.press("x");
  });

  it("G15 the palette opens by key, finds an agent by its name and goes there", async () => {
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Command palette" });
    await palette.waitFor();
    await picture(page, "palette");
    await page.keyboard.type(seed.inReview.agent);
    await palette
      .getByRole("option", { name: new RegExp(seed.inReview.agent) })
      .first()
      .waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("complementary", { name: `Agent ${seed.inReview.agent}` }).waitFor();
    await picture(page, "peek");
    await page.keyboard.press("Escape");
    await page.getByRole("complementary").waitFor({ state: "detached" });
  });

  it("G16 two keys go to a page, the first one says what can follow", async () => {
    await page.keyboard.press("g");
    await page.getByRole("status", { name: "g, then" }).waitFor();
    await picture(page, "pending");
    await page.keyboard.press("h");
    await page.getByRole("heading", { name: "Home" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("g a");
    expect(page.url()).not.toContain("/agents");
    await page.keyboard.press("Escape");
    await page.getByLabel("Filter by type pattern").blur();
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await page.getByRole("heading", { name: "Agents" }).waitFor();
  });

  it("G16 the sheet lists each action once", async () => {
    await page.keyboard.press("?");
    const sheet = page.getByRole("dialog", { name: "Keys" });
    await sheet.waitFor();
    const ids = await sheet
      .locator("[data-action]")
      .evaluateAll((all) => all.map((one) => one.getAttribute("data-action")));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toContain("go.agents");
    await picture(page, "keys");
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
  });

  it("G5 a verb shows at once, and G6 can be taken back", async () => {
    await page.getByRole("button", { name: `Do something with ${seed.busy}` }).click();
    await page.getByRole("menuitem", { name: /^Pause/ }).waitFor();
    await picture(page, "menu");
    await page.getByRole("menuitem", { name: /^Pause/ }).click();
    await card(seed.busy).getByText("Paused", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await card(seed.busy).getByText("Busy", { exact: true }).waitFor();
  });

  it("G5 a refusal is taken back with its reason, and Retry does it after all", async () => {
    let isRefused = true;
    const pauses = /\/agents\/[^/]+\/pause$/;
    const error = { code: "conflict", message: "the agent is being moved" };
    await page.route(pauses, (route) =>
      isRefused
        ? route.fulfill({ status: 409, json: { success: false, error } })
        : route.continue(),
    );
    await page.getByRole("button", { name: `Do something with ${seed.busy}` }).click();
    await page.getByRole("menuitem", { name: /^Pause/ }).click();
    const told = page.getByRole("alert").filter({ hasText: "The agent is being moved." });
    await told.waitFor();
    await card(seed.busy).getByText("Busy", { exact: true }).waitFor();
    isRefused = false;
    await told.getByRole("button", { name: "Retry" }).click();
    await expect
      .poll(async () => (await seeded.json<Agent>("agent", "show", seed.busy)).lifecycleState)
      .toBe("paused");
    await card(seed.busy).getByText("Paused", { exact: true }).waitFor();
    await page.unroute(pauses);
    await seeded.godel("agent", "resume", seed.busy);
    await card(seed.busy).getByText("Busy", { exact: true }).waitFor();
  });

  it("G16 Space peeks, brackets change panes, a assigns, G6 which Undo takes back, e edits", async () => {
    const { page: own } = await visitor(browser);
    const [first = ""] = seed.beads;
    await signIn(own, here, "/beads");
    const row = own.locator(`main [data-row="${first}"]`);
    await row.waitFor();
    for (let at = 0; at < 10 && (await row.getAttribute("data-cursor")) === null; at += 1) {
      await own.keyboard.press("j");
    }
    await own.keyboard.press("Space");
    const panel = own.getByRole("complementary", { name: `Bead ${first}` });
    await panel.waitFor();
    // Brackets go between the list and what is beside it, whose border arrows move.
    await own.keyboard.press("]");
    const isHere = () => panel.evaluate((one) => one === document.activeElement);
    await expect.poll(isHere).toBe(true);
    await own.keyboard.press("[");
    const isInList = () =>
      own.evaluate(() => document.activeElement?.querySelector("[role=grid]") !== null);
    await expect.poll(isInList).toBe(true);
    const border = panel.getByRole("separator", { name: "Width of the panel" });
    const width = async () => (await panel.boundingBox())?.width ?? 0;
    const before = await width();
    await border.focus();
    await own.keyboard.press("ArrowLeft");
    await expect.poll(async () => Math.round((await width()) - before)).toBe(24);
    const agent = async () => (await seeded.json<Bead>("bead", "show", first)).agent ?? "nobody";
    await own.keyboard.press("a");
    await expect.poll(agent).toBe("user:owner");
    await undoOf(own, /^Assign /).click();
    await expect.poll(agent).toBe("nobody");
    await own.keyboard.press("e");
    await own.locator("input:focus, textarea:focus").waitFor();
    await own.keyboard.press("Escape");
    await own.context().close();
  });

  it("G4 where no WebSocket gets through, events come another way", async () => {
    const { page: own } = await visitor(browser);
    await own.routeWebSocket(/\/events$/, (socket) => socket.close());
    await signIn(own, here, "/");
    // A list under the mouse would keep still.
    await own.mouse.move(5, 5);
    await badge(own, "Live").waitFor();
    await publish(here, "demo:other", { mark: "another-way" });
    await rows(own, "another-way").waitFor();
    await own.context().close();
  });

  it("G15 the palette asks for the project in a step of its own", async () => {
    await page.keyboard.press("Control+k");
    await page.keyboard.type("switch");
    await page.keyboard.press("Enter");
    await page.getByRole("option", { name: seed.project }).waitFor();
    await page.keyboard.type(seed.project);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: `Project: ${seed.project}` }).waitFor();
    expect(page.url()).toContain("project=");
  });

  it("G15 what was found and opened is among the recent", async () => {
    const { page: own } = await visitor(browser);
    await signIn(own, here, "/");
    await badge(own, "Live").waitFor();
    const option = (name: RegExp) => own.getByRole("option", { name }).first();
    await own.keyboard.press("Control+k");
    await own.keyboard.type("login form");
    await option(/^Fix the login form/).waitFor();
    await option(/^Fix the login form/).click();
    await own.getByRole("heading", { name: "Beads", level: 1 }).waitFor();
    await own.keyboard.press("Control+k");
    await own.getByText("Recent", { exact: true }).waitFor();
    await option(/^Fix the login form/).waitFor();
    await picture(own, "palette-recent");
    await own.context().close();
  });

  it("G15 the files of an open review are found by the palette's own search", async () => {
    const { page: own } = await visitor(browser);
    await signIn(own, here, `/review/${seed.inReview.bead}`);
    await own.locator("[data-file]").first().waitFor();
    await own.keyboard.press("Control+k");
    await own.keyboard.type("hello.txt");
    await own.getByRole("option", { name: /^hello\.txt/ }).waitFor();
    await own.keyboard.press("Escape");
    await own.getByRole("dialog").waitFor({ state: "detached" });
    // G16: brackets go from pane to pane.
    await own.locator("[data-pane=diff]").focus();
    await own.keyboard.press("[");
    await own.locator("[data-pane=queue]:focus").waitFor();
    await own.keyboard.press("]");
    await own.locator("[data-pane=diff]:focus").waitFor();
    await own.context().close();
  });

  it("G15 navigation works offline", async () => {
    const { page: own } = await visitor(browser);
    // The code of other pages is fetched when there is time.
    const fetched = own.waitForResponse(/\/assets\/CostsPage-[^/]*\.js$/);
    await signIn(own, here, "/");
    await (await fetched).finished();
    await own.context().setOffline(true);
    await own.route(/./, (route) => route.abort());
    await own.keyboard.press("Control+k");
    await own.keyboard.type("Costs");
    await own.keyboard.press("Enter");
    await own.getByRole("heading", { name: "Costs", level: 1 }).waitFor();
    expect(own.url()).toContain("/dashboard/costs");
    await own.context().close();
  });

  it("G18 at 320 px the pages are behind a button", async () => {
    await page.setViewportSize({ width: 320, height: 700 });
    await page.getByRole("button", { name: "Pages" }).click();
    await page.getByRole("link", { name: "Home" }).waitFor();
    await picture(page, "nav-narrow");
    await page.getByRole("link", { name: "Home" }).click();
    await page.getByRole("region", { name: "Server health" }).waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it("G17 a chosen theme is there before the first paint", async () => {
    const { page: own } = await visitor(browser, { colorScheme: "light" });
    await chooseTheme(own, "dark");
    // The page itself never starts: what is seen is what comes before it.
    await own.route(/\/assets\/.*\.js$/, (route) => route.abort());
    await own.goto(`${here.url}/dashboard/`, { waitUntil: "load" });
    const seen = await own.evaluate(() => ({
      theme: document.documentElement.className,
      background: getComputedStyle(document.documentElement).backgroundColor,
    }));
    expect(seen).toEqual({ theme: "dark", background: "rgb(16, 17, 19)" });
    await own.context().close();
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
