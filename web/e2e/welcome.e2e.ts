import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  badge,
  barriers,
  eachTheme,
  openBrowser,
  picture,
  read,
  signIn,
  visitor,
  type World,
} from "./browser";
import { KEY, SeededServer } from "./seed";

/** The provider follows what stands in the brackets: it plans one bead, and does its work. */
const PLAN = {
  title: "Say hello",
  beads: [
    {
      key: "hello",
      title: "Write hello.txt",
      description: "[[work hello.txt hello from an agent]]",
      type: "task",
      needs: [],
      role: "worker",
      size: "small",
    },
  ],
};
const WISH = `Write a file that says hello [[json ${JSON.stringify(PLAN)}]]`;

describe("X5 the setup", () => {
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
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  const step = () => page.locator('[aria-current="step"]');
  const at = (title: string) => step().getByRole("button", { name: title }).waitFor();

  it("X5 whoever has no project is led to it, or says not now", async () => {
    const { page: other } = await visitor(browser);
    await signIn(other, here, "/");
    const card = other.getByRole("region", { name: "Set up Godel" });
    await card.getByText("There is no project yet.").waitFor();
    await picture(other, "welcome-invitation");
    await card.getByRole("button", { name: "Not now" }).click();
    await card.waitFor({ state: "detached" });
    await other.reload();
    await badge(other, "Live").waitFor();
    expect(await card.count()).toBe(0);
    await other.context().close();
    await page.getByRole("link", { name: "Set it up" }).click();
    await at("Add a repository");
    await picture(page, "welcome-repository");
  });

  it("X5 a path that is no repository is refused at its field, a right one goes on", async () => {
    const path = page.getByLabel("Path of the repository");
    await path.fill("/nowhere/at/all");
    await page.getByRole("button", { name: "Add the repository" }).click();
    await expect.poll(() => path.getAttribute("aria-invalid")).toBe("true");
    await path.fill(seeded.repository);
    await page.getByRole("button", { name: "Add the repository" }).click();
    await at("Give Godel a key");
    const { items } = await read<{ items: { name: string; repository: string }[] }>(
      here,
      "/api/v1/projects",
    );
    expect(items.map(({ name, repository }) => [name, repository])).toEqual([
      ["app", seeded.repository],
    ]);
  });

  it("X5 a key is tried at once, and a wrong one says why", async () => {
    await page.getByText("There is no key of any provider, so nothing was tried.").waitFor();
    await page.getByLabel("Provider").selectOption("anthropic");
    const key = page.getByLabel("Key", { exact: true });
    await key.fill("sk-wrong");
    await page.getByRole("button", { name: "Set and try it" }).click();
    await page.getByText("Does not work").waitFor();
    await picture(page, "welcome-key");
    await key.fill(KEY);
    await page.getByRole("button", { name: "Set and try it" }).click();
    await at("Say what it may cost");
    const done = page.getByRole("list", { name: "Steps of the setup" }).getByText("Done");
    await expect.poll(() => done.count()).toBe(2);
  });

  it("X5 a reload goes on where the server says, and a budget is set", async () => {
    await page.goto(`${here.url}/dashboard/welcome`);
    await at("Say what it may cost");
    await page.getByLabel("Hard stop of a month, in dollars").fill("much");
    await page.getByText("Write dollars, such as 50 or 2.50.").waitFor();
    await page.getByLabel("Hard stop of a month, in dollars").fill("50");
    await picture(page, "welcome-budget");
    await page.getByRole("button", { name: "Set the budget" }).click();
    await at("Get a first change");
    const { items } = await read<{ items: { capMicros: number; scope: string }[] }>(
      here,
      "/api/v1/budgets",
    );
    expect(items.map(({ capMicros }) => capMicros)).toEqual([50_000_000]);
  });

  it("X5 a first wish becomes a change that is reviewed", async () => {
    await page.getByRole("textbox", { name: "What do you want?" }).fill(WISH);
    await page.getByRole("button", { name: "Plan it" }).click();
    const plan = page.getByRole("article", { name: "A plan" });
    await plan.waitFor();
    await page.goto(`${here.url}/dashboard/welcome`);
    // The plan was left and is found again.
    await plan.getByRole("button", { name: "Start" }).click();
    await page.getByRole("article", { name: "Started" }).waitFor({ timeout: 30_000 });
    await page.getByText(/waits for your review\./).waitFor({ timeout: 90_000 });
    await picture(page, "welcome-ready");
    await page.getByRole("link", { name: "Review the change" }).click();
    await page.waitForURL(/\/dashboard\/review\//);
    await page.getByText("hello from an agent").first().waitFor();
    await picture(page, "welcome-review");
  }, 180_000);

  it("G18 nothing keeps people out of it, in either theme", async () => {
    await eachTheme(browser, here, "/welcome?step=key", async (own, theme) => {
      await own.getByText("Works", { exact: true }).waitFor();
      expect(await barriers(own), theme).toEqual([]);
      await own.getByRole("button", { name: "Get a first change" }).click();
      await own.getByRole("link", { name: "Review the change" }).waitFor();
      expect(await barriers(own), theme).toEqual([]);
      await picture(own, `welcome-${theme}`);
      await own.getByRole("button", { name: "Skip the setup" }).click();
      await own.waitForURL(/\/dashboard\/(\?|$)/);
    });
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
