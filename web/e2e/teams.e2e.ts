import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Team } from "../src/api/types";
import {
  badge,
  barriers,
  openBrowser,
  picture,
  read,
  signIn,
  visitor,
  type World,
} from "./browser";
import { somebody } from "./people";
import { SpendingServer } from "./spending";

const DAY_MS = 86_400_000;

interface Given {
  id: string;
  attempt: number;
}

describe("teams", () => {
  let spending: SpendingServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    ({ spending, here } = await SpendingServer.start());
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser, { colorScheme: "light" }));
    await signIn(page, here, "/");
    await badge(page, "Live").waitFor();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await spending?.remove();
  });

  const godel = (...words: string[]) => spending.server.cli(...words);
  const teams = async () => (await read<{ items: Team[] }>(here, "/api/v1/teams")).items;
  const team = async (name: string) => (await teams()).find((one) => one.name === name);
  const row = (name: string) =>
    page.getByRole("grid", { name: "Teams" }).getByRole("row", { name: new RegExp(name) });
  const panel = () => page.getByRole("complementary", { name: "One team" });
  const press = (name: string) => panel().getByRole("button", { name, exact: true }).click();

  /** Looks at the page in both themes. */
  async function expectOpen(name: string): Promise<void> {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await barriers(page), `${name}, ${colorScheme}`).toEqual([]);
      await picture(page, `${name}-${colorScheme}`);
    }
    await page.emulateMedia({ colorScheme: "light" });
  }

  it("G8 G16 two keys lead to them; without any it says why, and how to make one", async () => {
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await page.getByRole("heading", { name: "Teams" }).waitFor();
    await page.getByText(/^There is no team yet/).waitFor();
    await page.getByText("godel team create review.json --start").waitFor();
    await expectOpen("teams-empty");
  });

  it("G12 a team is made by a form that shows the same command", async () => {
    const deadline = new Date(Date.now() + 2 * DAY_MS).toISOString().slice(0, 16);
    await page.keyboard.press("c");
    const drawer = page.getByRole("dialog", { name: "New team" });
    await drawer.getByLabel("Name", { exact: true }).fill("review");
    await drawer.getByLabel("Strategy", { exact: true }).selectOption("map-reduce");
    await drawer.getByLabel("Goal", { exact: true }).fill("Find what is wrong");
    await drawer.getByLabel("Items", { exact: true }).fill("a.rs\nb.rs\nc.rs");
    await drawer.getByLabel("Roles", { exact: true }).fill("reviewer");
    await drawer.getByLabel("Who joins the results").fill("editor");
    await drawer.getByLabel("Pool", { exact: true }).fill("ci");
    await drawer.getByLabel("Budget, in dollars").fill("5");
    await drawer.getByLabel("Deadline").fill(deadline);
    await drawer.getByText(/^echo '\{"name":"review".* \| godel team create -$/).waitFor();
    await expectOpen("teams-new");
    await drawer.getByRole("button", { name: "Create the team" }).click();
    await drawer.waitFor({ state: "detached" });
    await row("review").getByText("Created", { exact: true }).waitFor();
    const made = await team("review");
    expect(made?.spec).toMatchObject({
      strategy: "map-reduce",
      goal: "Find what is wrong",
      items: ["a.rs", "b.rs", "c.rs"],
      roles: [{ name: "reviewer" }],
      merge: { name: "editor" },
      size: 2,
      budgetMicros: 5_000_000,
      retry: { maxAttempts: 3 },
      pool: "ci",
    });
    expect(Date.parse(String(made?.spec.deadline))).toBe(Date.parse(deadline));
  });

  it("G3 it is started, and its progress comes without a reload", async () => {
    await panel().getByText("It is planned when it starts.").waitFor();
    await press("Start");
    await row("review").getByText("Running", { exact: true }).waitFor();
    await expect.poll(async () => (await team("review"))?.state).toBe("running");
    await page.mouse.move(5, 5);
    const worker = (await godel("worker", "register", "--pool", "ci", "--capacity", "1")).trim();
    const [line = ""] = (await godel("worker", "claim", worker, "--wait", "10s")).split("\n");
    const given = JSON.parse(line) as Given;
    await panel().getByText("has 1 task").waitFor();
    const who = ["--worker", worker, "--attempt", String(given.attempt)];
    const result = JSON.stringify({ found: 1, costMicros: 1_250_000 });
    await godel("task", "complete", given.id, ...who, "--result", result);
    await panel().locator('[data-count="succeeded"]').getByText("1", { exact: true }).waitFor();
    await row("review").getByText("$1.25 of $5.00").waitFor();
    await expectOpen("teams-running");
  });

  it("it is scaled while it works, and that can be taken back", async () => {
    await panel().getByLabel("At once", { exact: true }).fill("3");
    await press("Scale");
    await row("review").getByText("3 at once").waitFor();
    await expect.poll(async () => (await team("review"))?.size).toBe(3);
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(async () => (await team("review"))?.size).toBe(2);
    await row("review").getByText("2 at once").waitFor();
  });

  it("of one that works only the budget and the deadline can be changed", async () => {
    await press("Change");
    const drawer = page.getByRole("dialog", { name: "Change review" });
    await drawer.getByText(/^It has begun/).waitFor();
    expect(await drawer.getByLabel("Goal", { exact: true }).count()).toBe(0);
    await drawer.getByLabel("Budget, in dollars").fill("9");
    await drawer
      .getByText(`echo '{"budgetMicros":9000000}' | godel team update review -`)
      .waitFor();
    await drawer.getByRole("button", { name: "Save the change" }).click();
    await drawer.waitFor({ state: "detached" });
    await expect.poll(async () => (await team("review"))?.budgetMicros).toBe(9_000_000);
    expect((await team("review"))?.spec.goal).toBe("Find what is wrong");
    await row("review").getByText("$1.25 of $9.00").waitFor();
  });

  it("it is paused and goes on; its run is a link away", async () => {
    await press("Pause");
    await expect.poll(async () => (await team("review"))?.state).toBe("paused");
    await press("Resume");
    await expect.poll(async () => (await team("review"))?.state).toBe("running");
    await panel().getByRole("link", { name: "Open its run" }).click();
    const run = (await team("review"))?.runId ?? "none";
    await expect.poll(() => page.url()).toContain(`/queue/runs/${run}`);
    await page.locator("button[data-step]").first().waitFor();
    await page.goBack();
    await panel().waitFor();
  });

  it("it is completed after a question", async () => {
    await press("Complete");
    const question = page.getByRole("dialog", { name: "Complete review?" });
    await question.getByText("godel team complete review").waitFor();
    await question.getByRole("button", { name: "Complete it" }).click();
    await row("review").getByText("Completed", { exact: true }).waitFor();
    await expect.poll(async () => (await team("review"))?.state).toBe("completed");
    // What is over is not changed any more.
    await panel().getByRole("button", { name: "Change" }).waitFor({ state: "detached" });
  });

  it("G6 it is deleted by its typed name only", async () => {
    await press("Delete");
    const question = page.getByRole("dialog", { name: "Delete review?" });
    const act = question.getByRole("button", { name: "Delete the team" });
    await question.getByLabel("Type review to go on").fill("revie");
    expect(await act.isDisabled()).toBe(true);
    await question.getByLabel("Type review to go on").fill("review");
    await act.click();
    await page.getByText(/^There is no team yet/).waitFor();
    await expect.poll(async () => (await teams()).length).toBe(0);
    expect(await panel().count()).toBe(0);
  });

  it("one is made of a file, told what is wrong with it, and found by the palette", async () => {
    await page.getByRole("button", { name: "New team" }).first().click();
    const drawer = page.getByRole("dialog", { name: "New team" });
    await drawer.getByRole("button", { name: "JSON or a file" }).click();
    const spec = { name: "writers", strategy: "parallel", goal: "Write", size: 0, copies: 2 };
    const file = (text: object) => ({
      name: "writers.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify(text)),
    });
    await drawer.locator("input[type=file]").setInputFiles(file({ ...spec, roles: [] }));
    await drawer.getByRole("button", { name: "Create the team" }).click();
    await drawer.getByText(/a team has at least one role/).waitFor();
    expect(await teams()).toEqual([]);
    await drawer
      .locator("input[type=file]")
      .setInputFiles(file({ ...spec, size: 2, roles: [{ name: "writer" }] }));
    await drawer.getByRole("button", { name: "Create the team" }).click();
    await drawer.waitFor({ state: "detached" });
    await expect.poll(async () => (await team("writers"))?.spec.copies).toBe(2);
    await row("writers").waitFor();
    await page.getByRole("button", { name: "Close the panel" }).click();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("writers");
    await page.getByRole("option", { name: /^writers/ }).waitFor();
    await page.keyboard.press("Enter");
    await panel().getByText("writers", { exact: true }).waitFor();
  });

  it("G14 who only looks is told why nothing can be done", async () => {
    const id = (await team("writers"))?.id ?? "";
    const who = { name: "vic", role: "viewer", place: `/teams?team=${id}` };
    const own = await somebody(browser, here, who);
    const aside = own.getByRole("complementary", { name: "One team" });
    for (const button of [
      own.getByRole("button", { name: "New team" }),
      aside.getByRole("button", { name: "Start", exact: true }),
      aside.getByRole("button", { name: "Delete", exact: true }),
    ]) {
      await expect.poll(() => button.getAttribute("aria-disabled")).toBe("true");
    }
    await aside
      .getByText(/^Your role viewer does not allow this; it needs team:execute:team/)
      .first()
      .waitFor({ state: "attached" });
    await own.context().close();
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
