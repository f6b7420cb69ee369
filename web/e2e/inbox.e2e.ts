import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Notice, Run } from "../src/api/types";
import { badge, openBrowser, picture, read, signIn, visitor, type World } from "./browser";
import { SeededServer } from "./seed";

const SHIP = `name: ship
steps:
  - { id: agree, approval: { message: "Ship it?" } }
  - { id: rest, timer: 1ms, dependsOn: [agree] }
`;

describe("the inbox", () => {
  let seeded: SeededServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    ({ seeded, here } = await SeededServer.start());
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser, { permissions: ["notifications"] }));
    await signIn(page, here, "/inbox");
    await badge(page, "Live").waitFor();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  const announced = () => page.locator("[aria-live=assertive]");
  const cards = () => page.locator("[data-notice]");
  /** How many notices the list has; only those in view are drawn. */
  const listed = async () => {
    const sizes = page.locator("main li[aria-setsize]");
    return (await sizes.count()) === 0
      ? 0
      : Number(await sizes.first().getAttribute("aria-setsize"));
  };
  /** Marks a card by keys, wherever it is: agents ask at any time. */
  const mark = async (card: Locator) => {
    for (let above = await listed(); above > 0; above -= 1) await page.keyboard.press("k");
    while ((await card.getAttribute("data-cursor")) === null) await page.keyboard.press("j");
  };
  const bell = (many: string) => page.getByRole("link", { name: `Inbox: ${many} waiting` });
  const waiting = async () => {
    const response = await fetch(`${here.url}/api/v1/inbox?limit=100`, {
      headers: { "X-API-Key": here.key },
    });
    const body = (await response.json()) as { data: { items: { text: string; kind: string }[] } };
    return body.data.items;
  };
  const approvals = async () => (await waiting()).filter(({ kind }) => kind === "approval");
  /** The other agents go on meanwhile, so that all three are asked until they agree. */
  const bellIsRight = () =>
    expect
      .poll(async () => {
        const { open } = await read<{ open: number }>(here, "/api/v1/inbox/count");
        const shown = await page.getByRole("link", { name: /^Inbox: / }).getAttribute("aria-label");
        const isSaid = shown === `Inbox: ${open} ${open === 1 ? "thing" : "things"} waiting`;
        return isSaid && open === (await waiting()).length;
      })
      .toBe(true);
  const runs = async () => (await read<{ items: Run[] }>(here, "/api/v1/runs")).items;
  const spawn = async (task: string) => {
    const { label } = await seeded.json<{ label: string }>("agent", "spawn", task);
    return label;
  };

  it("G19 collects what waits, and the bell counts what the API counts", async () => {
    const open = await waiting();
    expect(open.length).toBeGreaterThan(0);
    await bell(open.length === 1 ? "1 thing" : `${open.length} things`).waitFor();
    await expect.poll(listed).toBe(open.length);
    await page.getByText("Which colour?").waitFor();
    await picture(page, "inbox");
  });

  it("C9 the address of a notice, where a notice of the desktop leads, is its answer box", async () => {
    const { items } = await read<{ items: Notice[] }>(here, "/api/v1/inbox?limit=100");
    const id = items.find(({ text }) => text === "Which colour?")?.id;
    await page.goto(`${here.url}/dashboard/inbox?notice=${id}`);
    const focused = () =>
      page.evaluate(() => {
        const { activeElement } = document;
        const card = activeElement?.closest("[data-notice]");
        return [activeElement?.tagName, card?.getAttribute("data-notice")];
      });
    await expect.poll(focused).toEqual(["TEXTAREA", id]);
    expect(new URL(page.url()).search).toBe("");
    await page.keyboard.press("Escape");
  });

  it("G19 a question and a failure come by themselves, and the bell follows", async () => {
    await page.mouse.move(5, 5);
    // What was asked before the page was opened is in the list, and is not news.
    expect(await announced().innerText()).toBe("");
    await spawn('Delete it [[call ask {"question":"Delete the table?","choices":["yes","no"]}]]');
    await page.getByText("Delete the table?", { exact: true }).waitFor({ timeout: 30_000 });
    await spawn("Break [[fault 400]]");
    await page.getByRole("article", { name: /^Failure of/ }).waitFor({ timeout: 40_000 });
    const open = await waiting();
    await bell(`${open.length} things`).waitFor();
    await picture(page, "inbox-full");
  });

  it("G18 that an agent needs a person is announced at once, on whatever page one is", async () => {
    await page.getByRole("link", { name: "Costs", exact: true }).click();
    await page.getByRole("heading", { name: "Costs", level: 1 }).waitFor();
    expect(await announced().count()).toBe(1);
    const label = await spawn(
      'Move it [[call ask {"question":"Move the sofa?","choices":["yes","no"]}]]',
    );
    await expect
      .poll(() => announced().innerText(), { timeout: 30_000 })
      .toBe(`${label} needs you. Question: Move the sofa?`);
    await seeded.godel("agent", "kill", label);
    await page.getByRole("link", { name: /^Inbox: / }).click();
    await expect.poll(listed).toBe((await waiting()).length);
  });

  it("G19 a notice that closes by itself leaves the inbox, and the bell is the count of the API", async () => {
    const counted = async () => (await read<{ open: number }>(here, "/api/v1/inbox/count")).open;
    const asks = await spawn('Ask [[call ask {"question":"Never mind?","choices":["a","b"]}]]');
    await page.getByText("Never mind?", { exact: true }).waitFor({ timeout: 30_000 });
    await seeded.godel("agent", "kill", asks);
    await page.getByText("Never mind?", { exact: true }).waitFor({ state: "detached" });
    const open = await counted();
    expect(open).toBe((await waiting()).length);
    await bell(`${open} things`).waitFor();
  });

  it("G19 y answers yes where a choice says yes", async () => {
    const before = (await waiting()).length;
    const at = page.locator("[data-notice]", { hasText: "Delete the table?" });
    while ((await at.getAttribute("data-cursor")) === null) await page.keyboard.press("j");
    // One that comes between the look and the key does not take its place.
    const late = await spawn('Sell it [[call ask {"question":"Sell it?","choices":["yes","no"]}]]');
    const isAsked = async () => (await waiting()).some(({ text }) => text === "Sell it?");
    await expect.poll(isAsked, { timeout: 30_000 }).toBe(true);
    await bellIsRight();
    await page.keyboard.press("y");
    await at.waitFor({ state: "detached" });
    await page.getByText(/was told: yes/).waitFor();
    expect(await isAsked()).toBe(true);
    await seeded.godel("agent", "kill", late);
    await expect.poll(async () => (await waiting()).length).toBe(before - 1);
    await page.getByText("Sell it?", { exact: true }).waitFor({ state: "detached" });
  });

  it("G19 y goes to the answer box where nothing says yes, and never guesses", async () => {
    const at = page.locator("[data-notice]", { hasText: "Which colour?" });
    for (let step = 0; step < 20; step += 1) {
      if ((await at.getAttribute("data-cursor")) !== null) break;
      await page.keyboard.press(step < 10 ? "k" : "j");
    }
    await page.keyboard.press("y");
    await page.keyboard.type("green, please");
    await page.keyboard.press("Enter");
    await at.waitFor({ state: "detached" });
    await expect
      .poll(async () => (await waiting()).some(({ text }) => text === "Which colour?"))
      .toBe(false);
  });

  it("G19 n puts aside what is no question, and the empty inbox says so", async () => {
    for (let left = await listed(); left > 0; left -= 1) {
      await page.keyboard.press("n");
      await expect.poll(listed).toBe(left - 1);
    }
    await page.getByText(/^Nothing waits for you/).waitFor();
    await expect.poll(waiting).toEqual([]);
    await bell("0 things").waitFor();
    await picture(page, "inbox-empty");
    await page.getByRole("button", { name: "All", exact: true }).click();
    await page.getByText("Answered: green, please").waitFor();
    await picture(page, "inbox-all");
    await page.getByRole("button", { name: "Open", exact: true }).click();
  });

  it("G19 an approval comes by itself, y approves it, and the run goes on", async () => {
    const file = join(seeded.server.folder, "ship.yaml");
    await writeFile(file, SHIP);
    await seeded.godel("workflow", "save", file);
    await seeded.godel("workflow", "run", "ship");
    const card = page.getByRole("article", { name: "Approval of ship, agree" });
    await card.getByText("Ship it?").waitFor();
    await bellIsRight();
    await picture(page, "inbox-approval");
    expect(await card.getByRole("button").allTextContents()).toEqual(["Approve", "Reject"]);
    await mark(card);
    await page.keyboard.press("y");
    await card.waitFor({ state: "detached" });
    await page.getByText("ship, agree was told: Approve", { exact: true }).waitFor();
    await expect.poll(async () => (await runs())[0]?.state).toBe("completed");
    await expect.poll(approvals).toEqual([]);
  });

  it("G19 an approval that is answered elsewhere leaves the inbox", async () => {
    await seeded.godel("workflow", "run", "ship");
    const card = page.getByRole("article", { name: "Approval of ship, agree" });
    await card.waitFor();
    const run = (await runs())[0]?.id ?? "";
    await seeded.godel("workflow", "reject", run, "agree");
    await card.waitFor({ state: "detached" });
    expect(await approvals()).toEqual([]);
    await bellIsRight();
  });

  it("G19 a budget alert comes once, leads to the budget, and goes when it is raised", async () => {
    const card = page.getByRole("article", { name: "Budget", exact: true });
    await seeded.godel("budget", "set", "tenant", "0.000001/month");
    await card.getByText(/^The monthly budget for everything is used up/).waitFor();
    // Whoever is refused now meets the same incident.
    const asks = await spawn("Say something");
    await page.getByText(asks, { exact: true }).waitFor({ timeout: 40_000 });
    expect(await card.count()).toBe(1);
    await bellIsRight();
    await picture(page, "inbox-budget");
    await card.getByRole("link", { name: "Raise the budget" }).click();
    await page.getByRole("dialog", { name: "Change the budget" }).waitFor();
    await page.goBack();
    await card.waitFor();
    await seeded.godel("budget", "set", "tenant", "100/month");
    await card.waitFor({ state: "detached" });
  });

  it("G1 of a hundred notices those in view are drawn, and keys go through all of them", async () => {
    const headers = { "Content-Type": "application/json", "X-API-Key": here.key };
    const body = JSON.stringify({ workflow: "ship" });
    for (let run = 0; run < 100; run += 1) {
      const begun = await fetch(`${here.url}/api/v1/runs`, { method: "POST", headers, body });
      expect(begun.ok, await begun.text()).toBe(true);
    }
    // Whoever is in the list is not disturbed by what comes; it is shown when it is asked for.
    const isNews = page.getByRole("button", { name: /new notices?$/ });
    const all = async () => {
      if (await isNews.isVisible()) await isNews.click();
      return listed();
    };
    await expect.poll(all, { timeout: 60_000 }).toBeGreaterThanOrEqual(100);
    expect(await cards().count()).toBeLessThan(40);
    const marked = () => page.locator("[data-notice][data-cursor]");
    const seen = new Set<string | null>();
    // The mark stays where it was: on the oldest, below all that came.
    for (let step = 0; step < 160; step += 1) {
      await page.keyboard.press(step < 80 ? "k" : "j");
      if (step < 80) seen.add(await marked().getAttribute("data-notice"));
    }
    expect(seen.size).toBeGreaterThan(60);
    const isInView = (box: Element) => {
      const { top, bottom } = box.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    };
    await expect.poll(() => marked().evaluate(isInView)).toBe(true);
    await picture(page, "inbox-hundred");
    expect(await cards().count()).toBeLessThan(40);
  });

  it("G19 desktop notices are off until asked for", async () => {
    await page.getByRole("button", { name: "Desktop notices off" }).click();
    await page.getByRole("button", { name: "Desktop notices on" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Desktop notices on" }).click();
    await page.getByRole("button", { name: "Desktop notices off" }).waitFor();
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
