import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Run, RunStep } from "../src/api/types";
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
import { SpendingServer } from "./spending";

const WORKFLOW = `name: release
inputs:
  branch: { type: string, default: main }
steps:
  - id: checkout
    pool: ci
    with: { branch: "{{ inputs.branch }}" }
  - id: build
    pool: ci
    dependsOn: [checkout]
    with: { command: make }
  - id: lint
    pool: ci
    dependsOn: [checkout]
    with: { command: lint }
  - id: test
    pool: ci
    dependsOn: [build]
    retries: { maxAttempts: 2, backoff: { initial: 10ms, max: 10ms } }
    with: { command: check }
  - id: agree
    dependsOn: [test, lint]
    approval: { by: [role:admin], message: "Release?" }
  - id: ship
    pool: ci
    dependsOn: [agree, build]
    with: { command: ship }
`;

interface Given {
  id: string;
  attempt: number;
  payload: { command?: string; branch?: string };
}

describe("the page of a run", () => {
  let spending: SpendingServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let run: string;
  let worker: string;

  beforeAll(async () => {
    ({ spending, here } = await SpendingServer.start());
    const file = join(spending.server.folder, "release.yaml");
    await writeFile(file, WORKFLOW);
    await godel("workflow", "save", file);
    await godel("workflow", "run", "release", "--input", "branch=next");
    run = (await read<{ items: Run[] }>(here, "/api/v1/runs")).items[0]?.id ?? "";
    worker = (await godel("worker", "register", "--pool", "ci", "--capacity", "4")).trim();
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser));
    await signIn(page, here, "/queue?tab=workflows");
    await badge(page, "Live").waitFor();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await spending?.remove();
  });

  const godel = (...words: string[]) => spending.server.cli(...words);
  const card = (id: string) => page.locator(`button[data-step="${id}"]`);
  const panel = () => page.getByRole("complementary", { name: "One step" });
  const isIn = (id: string, state: string) =>
    page.locator(`button[data-step="${id}"][data-state="${state}"]`).waitFor();
  const steps = async () =>
    (await read<{ steps: RunStep[] }>(here, `/api/v1/runs/${run}/steps`)).steps;
  const places = () =>
    page
      .locator("button[data-step]")
      .evaluateAll((all) =>
        all.map((one) => `${one.getAttribute("data-step")} ${one.parentElement?.style.cssText}`),
      );

  /** Does what is handed out, until each of the steps was tried; a failure says why. */
  async function work(wanted: Record<string, "ok" | "bad">): Promise<void> {
    const left = new Set(Object.keys(wanted));
    const deadline = Date.now() + 30_000;
    while (left.size > 0) {
      if (Date.now() > deadline) throw new Error(`nobody handed out ${[...left]}`);
      const said = await godel("worker", "claim", worker, "--wait", "1s");
      for (const line of said.split("\n").filter((text) => text.trim() !== "")) {
        const given = JSON.parse(line) as Given;
        const step = (await steps()).find(({ taskId }) => taskId === given.id)?.id ?? "";
        const who = ["--worker", worker, "--attempt", String(given.attempt)];
        if (wanted[step] === "bad") {
          await godel("task", "fail", given.id, ...who, "--error", "exit code 2");
        } else await godel("task", "complete", given.id, ...who, "--result", '{"fine":true}');
        left.delete(step);
      }
    }
  }

  it("X2 a run is opened from its list, and its steps are a graph in layers", async () => {
    const row = page.getByRole("row", { name: /release/ });
    await row.getByText("release").click();
    await page.getByRole("link", { name: "Open the graph of the run" }).click();
    await page.getByRole("heading", { name: "release", exact: true }).waitFor();
    await card("ship").waitFor();
    const order = await page
      .getByRole("list", { name: "Steps", exact: true })
      .getByRole("button")
      .evaluateAll((all) => all.map((one) => one.getAttribute("data-step")));
    expect(order).toEqual((await steps()).map(({ id }) => id));
    const left = async (id: string) => Math.round((await card(id).boundingBox())?.x ?? 0);
    expect(await left("build")).toBe(await left("lint"));
    const chain = [];
    for (const id of ["checkout", "build", "test", "agree", "ship"]) chain.push(await left(id));
    expect(chain).toEqual(chain.toSorted((a, b) => a - b));
    expect(new Set(chain).size).toBe(5);
    await expect.poll(() => page.locator("[data-edge]").count()).toBe(7);
    await picture(page, "run-begun");
    // What is not over cannot be done anew.
    await card("ship").click();
    await panel().getByText("ship is pending; only what is over can be done anew.").waitFor({
      state: "attached",
    });
    const again = panel().getByRole("button", { name: "Rerun from here" });
    expect(await again.getAttribute("aria-disabled")).toBe("true");
    await page.keyboard.press("Escape");
    await panel().waitFor({ state: "detached" });
  });

  it("X2 steps change live, and no card moves", async () => {
    const before = await places();
    await work({ checkout: "ok", lint: "ok", build: "ok" });
    await isIn("build", "succeeded");
    await isIn("lint", "succeeded");
    expect(await places()).toEqual(before);
    await page
      .getByRole("status")
      .getByText(/^3 of 6 steps done/)
      .waitFor();
  });

  it("X2 a step tells its attempts, input, output and error; tries are a stack", async () => {
    await work({ test: "bad" });
    await work({ test: "bad" });
    await isIn("test", "failed");
    await expect.poll(() => card("test").getAttribute("data-stack")).toBe("2");
    await card("test").click();
    const attempts = panel().getByRole("region", { name: "Attempts" }).getByRole("listitem");
    await expect.poll(() => attempts.count()).toBe(2);
    await attempts.first().getByText("exit code 2").waitFor();
    await expect.poll(async () => (await panel().boundingBox())?.x ?? 1280).toBeLessThan(900);
    await panel().getByRole("region", { name: "Input" }).getByText(/check/).waitFor();
    await picture(page, "run-failed");
    await page.reload();
    await panel().getByRole("region", { name: "Attempts" }).waitFor();
    await card("build").click();
    await panel().getByRole("region", { name: "Output" }).getByText(/fine/).waitFor();
    const again = panel().getByRole("button", { name: "Rerun from here" });
    await expect.poll(() => again.getAttribute("aria-disabled")).toBe(null);
    await page.keyboard.press("Escape");
    await panel().waitFor({ state: "detached" });
  });

  it("X2 the critical path is what was waited for", async () => {
    const decisive = async () =>
      page
        .locator("button[data-decisive]")
        .evaluateAll((all) => all.map((one) => one.getAttribute("data-step")));
    await expect.poll(decisive).toEqual(["checkout", "build", "test"]);
    await expect.poll(() => page.locator("path[data-decisive]").count()).toBe(2);
    await page.getByText("Critical path: checkout → build → test").waitFor();
  });

  it("X2 a failed step is done anew from the panel, and a step that asks is answered", async () => {
    await card("test").click();
    await panel().getByRole("button", { name: "Rerun from here" }).click();
    await work({ test: "ok" });
    await isIn("test", "succeeded");
    await isIn("agree", "waiting");
    await expect.poll(() => card("test").getAttribute("data-stack")).toBe("2");
    await panel().getByText("1 time", { exact: true }).waitFor();
    // What came before it was done anew is still told.
    const earlier = panel().getByRole("button", { name: "Begun before, time 1: dead" });
    await earlier.click();
    await panel().locator('[data-round="0"]').getByText("exit code 2").first().waitFor();
    await card("agree").click();
    await panel().getByLabel("Note, if you like").fill("go");
    await picture(page, "run-asks");
    await panel().getByRole("button", { name: "Approve" }).click();
    await isIn("agree", "succeeded");
    await work({ ship: "ok" });
    await isIn("ship", "succeeded");
    await page
      .getByRole("status")
      .getByText(/^6 of 6 steps done/)
      .waitFor();
    await page.keyboard.press("Escape");
    await picture(page, "run-done");
  });

  it("X2 keys go along the edges", async () => {
    await card("checkout").focus();
    await page.keyboard.press("ArrowRight");
    const here = () => page.evaluate(() => document.activeElement?.getAttribute("data-step"));
    await expect.poll(async () => ["build", "lint"].includes((await here()) ?? "")).toBe(true);
    await page.keyboard.press("ArrowLeft");
    await expect.poll(here).toBe("checkout");
    await page.keyboard.press("Enter");
    await panel().waitFor();
    await page.keyboard.press("Escape");
  });

  it("X2 the line of time and the list say the same", async () => {
    await page.getByRole("button", { name: "Time", exact: true }).click();
    await expect.poll(() => page.locator("[data-bar]").count()).toBe(6);
    expect(page.url()).toContain("view=time");
    await page.locator('[data-bar="test"]').getByText("Succeeded").waitFor();
    await picture(page, "run-time");
    await page.getByRole("button", { name: "List", exact: true }).click();
    const lines = page.locator("[data-line]");
    await expect.poll(() => lines.count()).toBe(6);
    const ship = (await steps()).find(({ id }) => id === "ship");
    const after = `after ${ship?.dependsOn.join(", ")}`;
    await page.locator('[data-line="ship"]').getByText(after).waitFor();
    await page.locator('[data-line="test"]').getByText("begun anew 1 time").waitFor();
    await page.locator('[data-line="ship"]').click();
    await panel().waitFor();
    await picture(page, "run-list");
    await page.keyboard.press("Escape");
  });

  it("X2 a run is run again with the same inputs, paused and cancelled", async () => {
    await page.getByRole("button", { name: "Run again" }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(run));
    const second = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    expect((await read<Run>(here, `/api/v1/runs/${second}`)).inputs).toEqual({ branch: "next" });
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Retry what failed" }).waitFor();
    const state = async () => (await read<Run>(here, `/api/v1/runs/${second}`)).state;
    await expect.poll(state).toBe("cancelled");
  });

  it("X2 a step that succeeded is done anew after a question, and all that comes after it", async () => {
    await page.goto(`${here.url}/dashboard/queue/runs/${run}`);
    await card("test").click();
    const ask = async () => {
      await panel().getByRole("button", { name: "Rerun from here" }).click();
      const question = page.getByRole("dialog", { name: "Rerun from test?" });
      await question.getByText(/ 2 steps after it are done anew as well\.$/).waitFor();
      return question;
    };
    const first = await ask();
    expect(await barriers(page)).toEqual([]);
    await picture(page, "run-rerun");
    await first.getByRole("button", { name: "Cancel" }).click();
    await first.waitFor({ state: "detached" });
    const rounds = async () => {
      const all = (await steps()).map(({ id, round }) => [id, round] as const);
      return Object.fromEntries(all);
    };
    const before = await rounds();
    expect(before).toMatchObject({ test: 1, build: 0 });
    await (await ask()).getByRole("button", { name: "Rerun from here" }).click();
    await work({ test: "ok" });
    await isIn("agree", "waiting");
    const after = await rounds();
    for (const id of ["test", "agree", "ship"]) expect(after[id], id).toBe((before[id] ?? 0) + 1);
    for (const id of ["checkout", "build", "lint"]) expect(after[id], id).toBe(before[id]);
    await page.keyboard.press("Escape");
  });

  it("X2 a narrow page shows the list", async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await page.goto(`${here.url}/dashboard/queue/runs/${run}`);
    await page.locator('[data-line="ship"]').waitFor();
    await picture(page, "run-narrow");
    expect(await barriers(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it("a run that is not there says so", async () => {
    await page.goto(`${here.url}/dashboard/queue/runs/019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3d`);
    await page.getByText(/^There is no run 019a87f2/).waitFor();
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
