import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { badge, openBrowser, picture, read, signIn, visitor, type World } from "./browser";
import { SeededServer } from "./seed";

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
  const bell = (many: string) => page.getByRole("link", { name: `Inbox: ${many} waiting` });
  const waiting = async () => {
    const response = await fetch(`${here.url}/api/v1/inbox?limit=100`, {
      headers: { "X-API-Key": here.key },
    });
    const body = (await response.json()) as { data: { items: { text: string }[] } };
    return body.data.items;
  };
  const spawn = async (task: string) => {
    const { label } = await seeded.json<{ label: string }>("agent", "spawn", task);
    return label;
  };

  it("G19 collects what waits, and the bell counts what the API counts", async () => {
    const open = await waiting();
    expect(open.length).toBeGreaterThan(0);
    await bell(open.length === 1 ? "1 thing" : `${open.length} things`).waitFor();
    await expect.poll(() => cards().count()).toBe(open.length);
    await page.getByText("Which colour?").waitFor();
    await picture(page, "inbox");
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
    await expect.poll(() => cards().count()).toBe((await waiting()).length);
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
    await page.keyboard.press("y");
    await at.waitFor({ state: "detached" });
    await page.getByText(/was told: yes/).waitFor();
    await expect.poll(async () => (await waiting()).length).toBe(before - 1);
  });

  it("G19 y goes to the answer box where nothing says yes, and never guesses", async () => {
    const at = page.locator("[data-notice]", { hasText: "Which colour?" });
    for (const key of ["k", "k", "k", "j", "j"]) {
      if ((await at.getAttribute("data-cursor")) !== null) break;
      await page.keyboard.press(key);
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
    for (let left = await cards().count(); left > 0; left -= 1) {
      await page.keyboard.press("n");
      await cards()
        .nth(left - 1)
        .waitFor({ state: "detached" });
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
