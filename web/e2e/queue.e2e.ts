import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { QueueDepth, TaskDetail } from "../src/api/types";
import { badge, openBrowser, picture, read, signIn, visitor, type World } from "./browser";
import { SpendingServer } from "./spending";

const WORKFLOW = `name: release
steps:
  - id: build
    with: { command: make }
  - id: test
    dependsOn: [build]
    with: { command: check }
  - id: agree
    dependsOn: [test]
    approval: { by: [role:admin], message: "Release?" }
`;

describe("the queue", () => {
  let spending: SpendingServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let dead: string[];

  beforeAll(async () => {
    ({ spending, here } = await SpendingServer.start());
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser));
    await signIn(page, here, "/queue");
    await badge(page, "Live").waitFor();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await spending?.remove();
  });

  const godel = (...words: string[]) => spending.server.cli(...words);
  const grid = (name: string) => page.getByRole("grid", { name });
  const row = (name: string) => page.getByRole("row", { name: new RegExp(name) });
  const depth = (state: string) => page.locator(`[data-depth="${state}"]`);
  const tab = (name: RegExp) => page.getByRole("tab", { name }).click();

  /** Two tasks that fail for good, one that waits for another, one that is not due. */
  async function fill(): Promise<void> {
    dead = [];
    const worker = (await godel("worker", "register", "--pool", "ci")).trim();
    for (const title of ["build web", "build docs"]) {
      const made = await godel("task", "create", title, "--pool", "ci", "--max-attempts", "1");
      const id = made.trim();
      await godel("worker", "claim", worker);
      const attempt = ["--worker", worker, "--attempt", "1"];
      await godel("task", "fail", id, ...attempt, "--error", "exit code 137");
      dead.push(id);
    }
    const first = (await godel("task", "create", "measure", "--pool", "lab")).trim();
    await godel("task", "create", "draw", "--pool", "lab", "--after", first);
    await godel("task", "create", "send the report", "--delay", "2h");
  }

  it("G8 an empty queue says so, and how to fill it", async () => {
    await page.getByText(/^The queue is empty/).waitFor();
    await page.getByText("godel task create 'build web' --pool ci").waitFor();
    await picture(page, "queue-empty");
  });

  it("G3 tasks come without a reload, each with its state and attempts", async () => {
    await page.mouse.move(5, 5);
    await fill();
    await depth("dead").getByText("2 dead").waitFor();
    await depth("ready").getByText("1 ready").waitFor();
    await row("draw").getByText("Blocked").waitFor();
    await row("draw").getByText("waits for 1 more").waitFor();
    await row("send the report").getByText("Delayed").waitFor();
    await row("build web").getByText("exit code 137").waitFor();
    await expect.poll(() => grid("Tasks").getByRole("row").count()).toBe(6);
    const told = await read<QueueDepth>(here, "/api/v1/queue/depth");
    for (const state of ["ready", "running", "delayed", "blocked", "dead"] as const) {
      await expect.poll(() => depth(state).textContent()).toBe(`${told[state]} ${state}`);
    }
    await picture(page, "queue-tasks");
  });

  it("G2 the address holds the filter, and a reload restores it", async () => {
    await page.getByLabel("Pool", { exact: true }).selectOption("lab");
    await row("build web").waitFor({ state: "detached" });
    await page.reload();
    await row("measure").waitFor();
    await expect.poll(() => grid("Tasks").getByRole("row").count()).toBe(3);
    await page.getByLabel("State", { exact: true }).selectOption("succeeded");
    await page.getByText("No tasks match the filter.").waitFor();
    await page.getByRole("button", { name: "Clear the filter" }).click();
    await row("build web").waitFor();
  });

  it("a task tells all its attempts", async () => {
    await row("build web").getByText("exit code 137").click();
    const panel = page.getByRole("complementary", { name: "One task" });
    const attempts = panel.getByRole("region", { name: "Attempts" }).getByRole("listitem");
    await attempts.first().waitFor();
    await expect.poll(() => attempts.count()).toBe(1);
    await attempts.first().getByText("Failed").waitFor();
    await picture(page, "queue-task");
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
  });

  it("G6 a task is cancelled at once, and comes back", async () => {
    await page.getByRole("button", { name: "Do something with send the report" }).click();
    await page.getByRole("menuitem", { name: /^Cancel/ }).click();
    await row("send the report").getByText("Cancelled", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await row("send the report")
      .getByText(/Ready|Delayed/)
      .waitFor();
  });

  it("dead letters are retried, one and all", async () => {
    await tab(/^Dead letters/);
    await grid("Dead letters").waitFor();
    await expect.poll(() => grid("Dead letters").getByRole("row").count()).toBe(3);
    await picture(page, "queue-dead");
    await page.getByRole("button", { name: "Do something with build web" }).click();
    const cancel = page.getByRole("menuitem", { name: /^Cancel/ });
    await expect.poll(() => cancel.getAttribute("aria-disabled")).toBe("true");
    await page.getByRole("menuitem", { name: /^Retry/ }).click();
    await row("build web").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Retry all" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Replay all" }).click();
    await page.getByText(/^There are no dead letters/).waitFor();
    for (const id of dead) {
      const task = () => read<TaskDetail>(here, `/api/v1/tasks/${id}`);
      await expect.poll(async () => (await task()).state).toBe("ready");
      expect((await task()).attempts).toHaveLength(1);
    }
  });

  it("a schedule is paused, goes on, and is deleted", async () => {
    await tab(/^Schedules/);
    await page.getByText(/^There is no schedule yet/).waitFor();
    await godel("schedule", "create", "nightly", "--cron", "0 3 * * *", "build everything");
    const line = page.locator('[data-line="nightly"]');
    await line.getByText(/^next/).waitFor();
    await page.getByRole("button", { name: "Do something with the schedule nightly" }).click();
    await page.getByRole("menuitem", { name: /^Pause/ }).click();
    await line.getByText("paused", { exact: true }).waitFor();
    await picture(page, "queue-schedules");
    await page.getByRole("button", { name: "Undo" }).click();
    await line.getByText(/^next/).waitFor();
    await page.getByRole("button", { name: "Do something with the schedule nightly" }).click();
    await page.getByRole("menuitem", { name: /^Delete/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete it" }).click();
    await line.waitFor({ state: "detached" });
  });

  it("X2 a run shows its steps in the order of the workflow, as a list", async () => {
    await tab(/^Workflows/);
    const file = join(spending.server.folder, "release.yaml");
    await writeFile(file, WORKFLOW);
    await godel("workflow", "run", file);
    await page.mouse.move(5, 5);
    await page.reload();
    await row("release").getByText("Running").waitFor();
    await row("release").getByText("release").click();
    const panel = page.getByRole("complementary", { name: "One run" });
    await panel.locator("[data-step]").nth(2).waitFor();
    const steps = await panel
      .locator("[data-step]")
      .evaluateAll((all) => all.map((one) => one.getAttribute("data-step")));
    expect(steps).toEqual(["build", "test", "agree"]);
    await panel.getByText("after build", { exact: true }).waitFor();
    await picture(page, "queue-run");
    await panel.getByRole("button", { name: "Pause" }).click();
    await panel.getByText("Paused").waitFor();
    await panel.getByRole("button", { name: "Resume" }).click();
    await panel.getByRole("button", { name: "Pause" }).waitFor();
    await panel.getByRole("button", { name: "Show the task of build" }).click();
    await page.getByRole("complementary", { name: "One task" }).waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor();
    await panel.getByRole("button", { name: "Cancel" }).click();
    await panel.getByText("Cancelled").first().waitFor();
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
