import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { badge, openBrowser, picture, signIn, visitor, type World } from "./browser";
import { go } from "./places";
import { SeededServer } from "./seed";

/** Forms beside a page: where, what opens them, and a field with something to write. */
const FORMS = [
  ["/settings/budgets", "Set a budget", "Limit, in dollars", "12.50"],
  ["/settings/projects", "Create a project", "What it is about", "A shop for sofas"],
  ["/settings/people", "Invite somebody", "Name", "Berta"],
  ["/settings/keys", "Create a key", "Name", "nightly"],
] as const;

describe("the address and the way back", () => {
  let seeded: SeededServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    ({ seeded, here } = await SeededServer.bare());
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser));
    await signIn(page, here, "/");
    await badge(page, "Live").waitFor();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  it.each(FORMS)("G2 Back never loses a draft: %s, %s", async (path, opens, label, text) => {
    const field = page.getByRole("dialog").getByLabel(label, { exact: true });
    const reopen = () => page.getByRole("button", { name: opens, exact: true }).click();
    await go(page, { name: "home", path: "/", sees: "", title: "Home" });
    await go(page, { name: "settings", path, sees: "", title: "Settings" });
    await reopen();
    await field.fill(text);
    await page.goBack();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.goForward();
    await field.waitFor();
    expect(await field.inputValue()).toBe(text);
    await picture(page, `draft-${path.split("/").at(-1)}`);
    // Who throws it away does not get it back.
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Discard" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await reopen();
    await field.waitFor();
    expect(await field.inputValue()).toBe("");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  it("G2 Back loses nothing of what is written for a new agent", async () => {
    const drawer = page.getByRole("dialog", { name: "Spawn an agent" });
    const name = drawer.getByLabel("Name", { exact: true });
    const budget = drawer.getByLabel("Budget in dollars");
    await go(page, { name: "home", path: "/", sees: "", title: "Home" });
    await go(page, { name: "agents", path: "/agents?spawn=1", sees: "", title: "Agents" });
    await name.fill("ann");
    await budget.fill("2.5");
    await page.goBack();
    await drawer.waitFor({ state: "detached" });
    await page.goForward();
    await name.waitFor();
    expect([await name.inputValue(), await budget.inputValue()]).toEqual(["ann", "2.5"]);
    // Who closes it does not lose it either.
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Spawn", exact: true }).first().click();
    await name.waitFor();
    expect(await name.inputValue()).toBe("ann");
    await name.fill("");
    await budget.fill("");
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
  });

  it("G2 a secret is no draft", async () => {
    await go(page, { name: "settings", path: "/settings/providers", sees: "", title: "Settings" });
    await page.getByRole("button", { name: "Set a key", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", { exact: true }).fill("anthropic");
    await dialog.locator("input").last().fill("sk-never-kept");
    const kept = () =>
      page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
    expect(await kept()).not.toContain("sk-never-kept");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Discard" }).click();
  });

  it("G2 what is looked for among the settings is in the address", async () => {
    const links = page.getByRole("navigation", { name: "Settings" }).getByRole("link");
    await page.getByLabel("Find a setting").fill("theme");
    await expect.poll(() => links.allTextContents()).toEqual(["Appearance"]);
    await page.reload();
    await expect.poll(() => links.allTextContents()).toEqual(["Appearance"]);
    expect(await page.getByLabel("Find a setting").inputValue()).toBe("theme");
    await links.first().click();
    await page.getByRole("region", { name: "Appearance" }).waitFor();
    await expect.poll(() => links.allTextContents()).toEqual(["Appearance"]);
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
