import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  badge,
  barriers,
  cutOff,
  eachTheme,
  openBrowser,
  picture,
  read,
  signIn,
  visitor,
  type World,
} from "./browser";
import { SeededServer } from "./seed";

const WISH = "Add a health endpoint and a test for it";

describe("a wish", () => {
  let seeded: SeededServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    ({ seeded, here } = await SeededServer.start());
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser));
    await signIn(page, here, "/");
    await badge(page, "Live").waitFor();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  const box = () =>
    page.getByLabel("What do you want?", { exact: true }).and(page.locator("textarea"));

  it("C3 a sentence becomes a plan with waves, agents, cost, time and how sure", async () => {
    await box().fill(WISH);
    await page.getByLabel("Plan without a model").check();
    await page.getByRole("button", { name: "Plan it" }).click();
    const plan = page.getByRole("article", { name: "A plan" });
    await plan.waitFor();
    const id = new URL(page.url()).searchParams.get("intent");
    const intent = await read<{
      plan: { beads: { title: string }[]; waves: string[][] };
      estimate: { sureness: string };
    }>(here, `/api/v1/intents/${id}`);
    const waves = plan.getByRole("list", { name: "Waves" });
    await expect.poll(() => waves.locator(":scope > li").count()).toBe(intent.plan.waves.length);
    for (const { title } of intent.plan.beads) await waves.getByText(title).first().waitFor();
    await plan.getByText(/at a time/).waitFor();
    await plan.getByText(/^about \$/).waitFor();
    await plan
      .getByText({ guess: "A guess", rough: "Rough" }[intent.estimate.sureness] ?? "")
      .waitFor();
    await picture(page, "intent-plan");
    await page.reload();
    await plan.getByRole("list", { name: "Waves" }).waitFor();
  });

  it("C4 it is started with a budget and its convoy is followed", async () => {
    const plan = page.getByRole("article", { name: "A plan" });
    const budget = plan.getByLabel("Budget $");
    await budget.fill("much");
    await plan.getByText("Write an amount such as 5 or 2.50.").first().waitFor();
    await budget.fill("3");
    await plan.getByRole("button", { name: "Start" }).click();
    const started = page.getByRole("article", { name: "Started" });
    await started.waitFor({ timeout: 30_000 });
    await started.getByText(/\d of \d+ beads? done/).waitFor();
    await picture(page, "intent-started");
    const id = new URL(page.url()).searchParams.get("intent");
    const intent = await read<{ convoy: string; budgetMicros: number }>(
      here,
      `/api/v1/intents/${id}`,
    );
    expect(intent.budgetMicros).toBe(3_000_000);
    await started.getByText(`godel watch ${intent.convoy}`).waitFor();
    // What it costs is told as it is spent, of what was agreed on.
    await started.getByText(/^\$[\d.]+ of \$3\.00 spent$/).waitFor();
    const spent = () => started.locator("[data-spent]").getAttribute("data-spent").then(Number);
    await expect.poll(spent, { timeout: 60_000 }).toBeGreaterThan(0);
    await page.getByRole("button", { name: "Close the plan" }).click();
    await started.waitFor({ state: "detached" });
  });

  it("C3 what is not plain is asked back once, and the answer goes on", async () => {
    await box().fill("make it better");
    await page.getByLabel("Plan without a model").check();
    await page.keyboard.press("Tab");
    await page.getByRole("button", { name: "Plan it" }).click();
    const asks = page.getByRole("article", { name: "One question" });
    await asks.getByText(/^What should I make\?/).waitFor();
    await picture(page, "intent-question");
    await asks.getByLabel("Your answer").fill("the login form: it should say what is wrong");
    await asks.getByRole("button", { name: "Answer" }).click();
    await asks.waitFor({ state: "detached", timeout: 30_000 });
    await page.locator("[data-intent]").waitFor();
    await page.getByRole("button", { name: "Close the plan" }).click();
  });

  it("G15 the palette takes a sentence to the box, from any page", async () => {
    await page.goto(`${here.url}/dashboard/agents`);
    await badge(page, "Live").waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("Write a changelog for people");
    await page.getByRole("option", { name: /Write a changelog for people/ }).click();
    await page.waitForURL(/\/dashboard\/(\?|$)/);
    await box().waitFor();
    await expect.poll(() => box().inputValue()).toBe("Write a changelog for people");
    expect(page.url()).not.toContain("ask=");
    await box().fill("");
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await page.getByRole("heading", { name: "Agents" }).waitFor();
    await page.keyboard.press("w");
    await box().waitFor();
    await expect
      .poll(() => box().evaluate((element) => element === document.activeElement))
      .toBe(true);
  });

  it("G18 nothing keeps people out of a plan, in either theme, and it fits 390 px", async () => {
    const { items } = await read<{ items: { id: string; state: string }[] }>(
      here,
      "/api/v1/intents?limit=10",
    );
    const started = items.find(({ state }) => state === "started")?.id;
    await eachTheme(browser, here, `/?intent=${started}`, async (own, theme) => {
      await own.getByRole("article", { name: "Started" }).waitFor();
      await own.getByRole("list", { name: "Progress" }).waitFor();
      await picture(own, `intent-${theme}`);
      expect(await barriers(own), theme).toEqual([]);
      await own.setViewportSize({ width: 390, height: 800 });
      await picture(own, `intent-narrow-${theme}`);
      expect(await cutOff(own)).toEqual([]);
    });
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
