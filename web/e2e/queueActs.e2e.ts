import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pool, Schedule, Task, TaskDetail, Worker } from "../src/api/types";
import { fileOf, fromMenu, itemsOf } from "./acts";
import {
  badge,
  barriers,
  chooseTheme,
  cutOff,
  openBrowser,
  picture,
  read,
  signIn,
  visitor,
  type World,
} from "./browser";
import { OwnServer } from "./server";

describe("what can be done in the queue", () => {
  let server: OwnServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let builder: string;

  beforeAll(async () => {
    server = await OwnServer.create();
    here = await server.start();
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser));
    await signIn(page, here, "/queue");
    await badge(page, "Live").waitFor();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
  });

  const godel = async (...words: string[]) => (await server.cli(...words)).trim();
  const drawer = (name: string) => page.getByRole("dialog", { name, exact: true });
  const row = (name: string) => page.getByRole("row", { name: new RegExp(name) });
  const tab = (name: RegExp) => page.getByRole("tab", { name }).click();
  const task = async (title: string) =>
    (await itemsOf<Task>(here, "/api/v1/tasks")).find((one) => one.title === title);
  const worker = async (id: string) => read<Worker>(here, `/api/v1/workers/${id}`);
  const pool = async (name: string) =>
    (await itemsOf<Pool>(here, "/api/v1/queue/pools")).find((one) => one.name === name);

  const act = (on: string, item: RegExp) => fromMenu(page, `Do something with ${on}`, item);

  it("G12 a task is made with all that the command line can say", async () => {
    await page.getByText(/^The queue is empty/).waitFor();
    await page.keyboard.press("c");
    const form = drawer("New task");
    await form.getByLabel("What is to be done, in a line").fill("build web");
    await form.getByLabel("What the worker gets, as JSON").fill('{"branch": "main"');
    await form.getByText('Write a JSON object, such as {"branch": "main"}.').waitFor();
    await form.getByLabel("What the worker gets, as JSON").fill('{"branch": "main"}');
    await form.getByLabel("Pool", { exact: true }).fill("ci");
    await form.getByLabel("Priority").selectOption("high");
    await form.getByLabel("What its worker must be able to do").fill("rust, linux");
    await form.getByLabel("Not before").fill("2090-01-02T10:00");
    await form.getByLabel("Of no use after").fill("2090-01-03T10:00");
    await form.getByLabel("Key", { exact: true }).fill("build-1");
    await form.getByLabel("Attempts in all").fill("5");
    await form.getByLabel("Pause after the first failure").fill("10s");
    await form.getByLabel("An attempt may take").fill("10m");
    await form.getByText(/--require rust --require linux --max-attempts 5/).waitFor();
    await picture(page, "queue-new-task");
    expect(await barriers(page)).toEqual([]);
    await form.getByRole("button", { name: "Put it into the queue" }).click();
    await page.getByRole("complementary", { name: "One task" }).waitFor();
    await expect.poll(async () => (await task("build web"))?.state).toBe("delayed");
    const made = await task("build web");
    expect(made).toMatchObject({
      payload: { branch: "main" },
      pool: "ci",
      priority: "high",
      requires: ["linux", "rust"],
      retry: { maxAttempts: 5, delayMs: 10_000 },
      timeoutSeconds: 600,
      key: "build-1",
    });
    const [start, end] = await page.evaluate(() => [
      new Date("2090-01-02T10:00").getTime(),
      new Date("2090-01-03T10:00").getTime(),
    ]);
    expect(Date.parse(made?.readyAt ?? "")).toBe(start);
    expect(Date.parse(made?.deadline ?? "")).toBe(end);
  });

  it("a key makes a task once, however often it is asked for, and the form says so", async () => {
    for (const told of [
      "The task is in the queue",
      "A task with this key was there already; nothing was made",
    ]) {
      await page.getByRole("button", { name: "New task" }).click();
      const form = drawer("New task");
      await form.getByLabel("What is to be done, in a line").fill("send the report");
      await form.getByLabel("Key", { exact: true }).fill("report-1");
      await form.getByRole("button", { name: "Put it into the queue" }).click();
      await page.getByText(told, { exact: true }).last().waitFor();
      await form.waitFor({ state: "detached" });
    }
    const reports = (await itemsOf<Task>(here, "/api/v1/tasks")).filter(
      ({ key }) => key === "report-1",
    );
    expect(reports).toHaveLength(1);
    const panel = page.getByRole("complementary", { name: "One task" });
    await panel.getByText("send the report").waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
  });

  it("what the server refuses stands at its field, and nothing typed is lost", async () => {
    await page.getByRole("button", { name: "New task" }).click();
    const form = drawer("New task");
    await form.getByLabel("What is to be done, in a line").fill("somewhere");
    await form.getByLabel("Pool", { exact: true }).fill("no such pool!");
    await form.getByRole("button", { name: "Put it into the queue" }).click();
    await form.getByRole("alert").first().waitFor();
    expect(await form.getByLabel("Pool", { exact: true }).getAttribute("aria-invalid")).toBe(
      "true",
    );
    await form.getByRole("button", { name: "Cancel" }).click();
    await form.getByText("What you wrote is not saved.").waitFor();
    await form.getByRole("button", { name: "Discard" }).click();
    await form.waitFor({ state: "detached" });
  });

  it("a task is cancelled with a reason that those who come later can read", async () => {
    await act("build web", /^Say why and cancel/);
    const dialog = drawer("Cancel build web");
    await dialog.getByLabel("Why, for those who come later").fill("the branch is gone");
    await dialog.getByText(/--reason 'the branch is gone'$/).waitFor();
    await picture(page, "queue-cancel");
    await dialog.getByRole("button", { name: "Cancel it" }).click();
    await expect.poll(async () => (await task("build web"))?.state).toBe("cancelled");
    expect((await task("build web"))?.error).toContain("the branch is gone");
    await row("build web").getByText("the branch is gone").waitFor();
  });

  it("a schedule is made; what is no time is said at the field", async () => {
    await tab(/^Schedules/);
    await page.getByText(/^There is no schedule yet/).waitFor();
    await page.getByRole("button", { name: "New schedule" }).last().click();
    const form = drawer("New schedule");
    await form.getByLabel("Name", { exact: true }).fill("nightly");
    await form.getByLabel("When, as cron says it").fill("every night");
    await form.getByLabel("Time zone").fill("Europe/Berlin");
    await form.getByLabel("What is to be done, in a line").fill("build everything");
    await form.getByLabel("Pool", { exact: true }).fill("ci");
    await form.getByRole("button", { name: "Make the schedule" }).click();
    await form.getByRole("alert").first().waitFor();
    const cron = form.getByLabel("When, as cron says it");
    expect(await cron.getAttribute("aria-invalid")).toBe("true");
    await cron.fill("0 3 * * *");
    await picture(page, "queue-new-schedule");
    await form.getByRole("button", { name: "Make the schedule" }).click();
    await page.locator('[data-line="nightly"]').getByText(/^next/).waitFor();
    const [made] = await itemsOf<Schedule>(here, "/api/v1/schedules");
    expect(made).toMatchObject({
      name: "nightly",
      cron: "0 3 * * *",
      timezone: "Europe/Berlin",
      title: "build everything",
      pool: "ci",
    });
  });

  it("a worker is seen with what it can do and has, is paused, goes on, and is removed", async () => {
    await tab(/^Workers/);
    await page.getByText(/^No worker is here/).waitFor();
    await picture(page, "queue-workers-empty");
    builder = await godel(
      ...["worker", "register", "--name", "builder-1", "--pool", "ci"],
      ...["--capability", "rust", "--capacity", "2"],
    );
    await row("builder-1").getByText("Idle").waitFor();
    await row("builder-1").getByText("0 of 2").waitFor();
    await row("builder-1").getByText("rust").waitFor();
    const id = await godel("task", "create", "compile", "--pool", "ci");
    await godel("worker", "claim", builder);
    await row("builder-1").getByText("1 of 2").waitFor();
    await row("builder-1").getByText("Busy").waitFor();
    await row("builder-1").getByText("rust").click();
    const panel = page.getByRole("complementary", { name: "One worker" });
    await panel.getByRole("button", { name: `Task ${id.slice(-8)}` }).waitFor();
    await picture(page, "queue-worker");
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });

    await act("builder-1", /^Pause/);
    await row("builder-1").getByText("Paused").waitFor();
    await expect.poll(async () => (await worker(builder)).status).toBe("paused");
    await picture(page, "queue-workers");
    expect(await barriers(page)).toEqual([]);
    await act("builder-1", /^Resume/);
    await expect.poll(async () => (await worker(builder)).status).toBe("busy");

    await act("builder-1", /^Remove/);
    const asked = drawer("Remove builder-1?");
    await asked.getByText(/^The 1 task that it has is given to others\./).waitFor();
    await asked.getByRole("button", { name: "Remove it" }).click();
    await row("builder-1").waitFor({ state: "detached" });
    await expect.poll(async () => (await worker(builder)).status).toBe("offline");
    await expect.poll(async () => (await task("compile"))?.state).toBe("ready");
    await page.getByLabel("Which workers").selectOption("all");
    await row("builder-1").getByText("Offline").waitFor();
  });

  it("dead letters are filtered, exported as the command line does, and replayed by the filter", async () => {
    const hand = await godel("worker", "register", "--name", "hand", "--pool", "lab");
    const dead: Record<string, string> = {};
    for (const [title, error] of [
      ["measure", "exit code 137"],
      ["draw, in colour", "exit code 137"],
      ["weigh", "too heavy"],
    ] as const) {
      const id = await godel("task", "create", title, "--pool", "lab", "--max-attempts", "1");
      await godel("worker", "claim", hand);
      await godel("task", "fail", id, "--worker", hand, "--attempt", "1", "--error", error);
      dead[title] = id;
    }
    await tab(/^Dead letters/);
    const grid = page.getByRole("grid", { name: "Dead letters" });
    await expect.poll(() => grid.getByRole("row").count()).toBe(4);
    await page.getByLabel("Filter by error").fill("137");
    await expect.poll(() => grid.getByRole("row").count()).toBe(3);
    await page.getByLabel("Filter by title").fill("weigh");
    await page.getByText("No dead letters match the filter.").waitFor();
    await page.getByLabel("Filter by title").fill("");
    await expect.poll(() => grid.getByRole("row").count()).toBe(3);
    expect(new URL(page.url()).searchParams.get("error")).toBe("137");
    await picture(page, "queue-dead-filter");

    for (const [format, item] of [
      ["csv", /^As CSV/],
      ["jsonl", /^As lines of JSON/],
    ] as const) {
      const { text } = await fileOf(page, () => fromMenu(page, "Export the dead letters", item));
      const told = await server.cli("dead", "export", "--error", "137", "--format", format);
      if (format === "csv") expect(text).toBe(told);
      else expect(linesOf(text)).toEqual(linesOf(told));
    }

    await page.getByRole("button", { name: "Retry those" }).click();
    const asked = drawer("Replay all dead letters that match?");
    await asked.getByText("godel dead replay --error 137 --yes").waitFor();
    await asked.getByRole("button", { name: "Replay all" }).click();
    const stateOf = async (title: string) =>
      (await read<TaskDetail>(here, `/api/v1/tasks/${dead[title]}`)).state;
    await expect.poll(() => stateOf("measure")).toBe("ready");
    await expect.poll(() => stateOf("draw, in colour")).toBe("ready");
    expect(await stateOf("weigh")).toBe("dead");
    await page.getByText("No dead letters match the filter.").waitFor();
    await page.getByRole("button", { name: "Clear the filter" }).last().click();
    await row("weigh").waitFor();
  });

  it("a dead letter that nobody needs is deleted for good, after a question", async () => {
    const left = async () => (await itemsOf<Task>(here, "/api/v1/dead-letters")).length;
    expect(await left()).toBe(1);
    await fromMenu(page, "Do something with weigh", /^Delete/);
    const asked = drawer("Delete weigh?");
    await asked.getByText(/^godel dead delete [0-9a-f]+ --yes$/).waitFor();
    await asked.getByRole("button", { name: "Cancel" }).click();
    expect(await left()).toBe(1);
    await fromMenu(page, "Do something with weigh", /^Delete/);
    await asked.getByRole("button", { name: "Delete for good" }).click();
    await expect.poll(left).toBe(0);
    await page.getByText("There are no dead letters").waitFor();
  });

  it("G6 a pool is paused and goes on", async () => {
    const pools = (name: string) => page.getByRole("button", { name, exact: true });
    await pools("Pools").click();
    await page.getByRole("menuitem", { name: /^Pause lab/ }).click();
    await expect.poll(async () => (await pool("lab"))?.paused).toBe(true);
    await page.getByText("Pools, 1 paused").waitFor();
    await pools("Pools").click();
    await page.getByRole("menuitem", { name: /^Resume lab/ }).click();
    await expect.poll(async () => (await pool("lab"))?.paused).toBe(false);
    await pools("Pools").click();
    await page.getByRole("menuitem", { name: /^Pause ci/ }).click();
    await expect.poll(async () => (await pool("ci"))?.paused).toBe(true);
    await page
      .getByRole("status")
      .filter({ hasText: "The pool ci is paused" })
      .getByRole("button", { name: "Undo" })
      .click();
    await expect.poll(async () => (await pool("ci"))?.paused).toBe(false);
  });

  it("how a pool works is set, and only that", async () => {
    await page.getByRole("button", { name: "Pools", exact: true }).click();
    await picture(page, "queue-pools");
    await page.getByRole("menuitem", { name: /^Set how lab works/ }).click();
    const form = drawer("The pool lab");
    const before = await pool("lab");
    await form.getByLabel("A task rises by one priority after, in seconds").fill("600");
    await form.getByLabel("Who gets a task").selectOption("round-robin");
    await form.getByText("godel queue set lab --ageing 600 --placement round-robin").waitFor();
    await picture(page, "queue-pool");
    await form.getByRole("button", { name: "Set it so" }).click();
    await form.waitFor({ state: "detached" });
    await expect
      .poll(() => pool("lab"))
      .toEqual({
        ...before,
        ageingSeconds: 600,
        placement: "round-robin",
      });
  });

  it("G17 G18 nothing keeps people out in the dark, and nothing is cut off on a phone", async () => {
    const { page: phone } = await visitor(browser, { viewport: { width: 390, height: 844 } });
    await chooseTheme(phone, "dark");
    await signIn(phone, here, "/queue?tab=workers&workers=all");
    await phone.getByRole("grid", { name: "Workers" }).waitFor();
    await picture(phone, "queue-workers-phone");
    expect(await cutOff(phone)).toEqual([]);
    expect(await barriers(phone)).toEqual([]);
    for (const form of ["task", "schedule"]) {
      await phone.goto(`${here.url}/dashboard/queue?new=${form}`);
      await phone.getByRole("dialog").waitFor();
      await picture(phone, `queue-new-${form}-phone`);
      expect(await cutOff(phone)).toEqual([]);
      expect(await barriers(phone)).toEqual([]);
    }
    await phone.context().close();
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});

function linesOf(text: string): unknown[] {
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}
