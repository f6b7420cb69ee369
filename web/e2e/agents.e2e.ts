import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UsageReport } from "../src/api/types";
import { badge, openBrowser, picture, read, signIn, visitor, type World } from "./browser";
import { type Seed, SeededServer } from "./seed";

/** Tokens of one request, as an event tells them. */
type Used = Partial<
  Record<"input" | "cacheRead" | "cacheWrite5m" | "cacheWrite1h" | "output", number>
>;

describe("the page of agents", () => {
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
  const open = async (name: string, tab = "") => {
    await page.goto(`${here.url}/dashboard/agents/${name}${tab && `?tab=${tab}`}`);
    await page.getByRole("heading", { name, exact: true }).waitFor();
  };

  const usageEvents = async (agentId: string) => {
    const filter = encodeURIComponent(JSON.stringify({ type: "agent:usage", agentId }));
    const path = `/api/v1/events?limit=50&filter=${filter}`;
    return (await read<{ items: { payload: { usage: Used } }[] }>(here, path)).items;
  };
  const contextOf = (event: { payload: { usage: Used } } | undefined) => {
    const {
      input = 0,
      cacheRead = 0,
      cacheWrite5m = 0,
      cacheWrite1h = 0,
    } = event?.payload.usage ?? {};
    return input + cacheRead + cacheWrite5m + cacheWrite1h;
  };

  it("A2 a card says who, what, where, what it costs and since when", async () => {
    const waiting = card(seed.waiting);
    await waiting.getByText("Waiting for you", { exact: true }).waitFor();
    const text = await waiting.innerText();
    expect(text).toContain("Paint it");
    expect(text).toContain("worktree · workspace");
    expect(text).toMatch(/\$\d/);
    expect(text).toMatch(/worker · claude-opus-4-8 · \d+[smh]/);
  });

  it("A2 a card tells what it cost today and the context of its last request, as the API does", async () => {
    const { agent } = seed.inReview;
    const { id, contextTokens } = await seeded.json<{ id: string; contextTokens: number }>(
      ...["agent", "show", agent],
    );
    const [last] = await usageEvents(id);
    const day = new Date().toISOString().slice(0, 10);
    const path = `/proxy/v1/usage?from=${day}&to=${day}&groupBy=agent`;
    const { rows } = await read<UsageReport>(here, path);
    const cost = rows.find(({ group }) => group.agent === id)?.costMicros;
    expect(cost).toBeGreaterThan(0);
    const told = (name: string) => card(agent).locator(`[${name}]`).getAttribute(name);
    await expect.poll(() => told("data-today")).toBe(String(cost));
    await expect.poll(() => told("data-context")).toBe(String(contextOf(last)));
    const percent = Math.floor((contextOf(last) / contextTokens) * 100);
    await expect.poll(() => told("data-percent")).toBe(String(percent));
    const gauge = card(agent).getByRole("meter", { name: "Context" });
    expect(await gauge.getAttribute("aria-valuenow")).toBe(
      String(Math.round((contextOf(last) / contextTokens) * 100)),
    );
    await page.mouse.move(5, 5);
    await picture(page, "agents-today");
  });

  it("B1 a view of the agents is kept by a name", async () => {
    await page.getByLabel("Status").selectOption("busy");
    await page.getByRole("button", { name: "Views: At work" }).waitFor();
    await page.getByRole("textbox", { name: "Filter the agents" }).fill("Think");
    await page.getByRole("button", { name: "Views" }).click();
    await page.getByRole("menuitem", { name: "Save this view…" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Thinkers");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Views: Thinkers" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Views: Thinkers" }).click();
    await page.getByRole("menuitemradio", { name: "All agents" }).click();
    await card(seed.waiting).waitFor();
    const { items } = await read<{ items: { page: string; query: string }[] }>(
      here,
      "/api/v1/views",
    );
    expect(items).toMatchObject([{ page: "agents", query: "q=Think&status=busy" }]);
  });

  it("A3 agents are grouped by team with counts, and a group can be folded", async () => {
    await page.getByRole("button", { name: "Teams" }).click();
    const group = page.getByRole("region", { name: "No team" });
    await group.getByText("4 agents: 1 waiting for you, 1 busy, 2 ended").waitFor();
    await picture(page, "agents-teams");
    await group.getByRole("button", { name: /^No team/ }).click();
    await card(seed.busy).waitFor({ state: "detached" });
    await group.getByRole("button", { name: /^No team/ }).click();
    await card(seed.busy).waitFor();
    await page.getByRole("button", { name: "Cards" }).click();
  });

  it("A3 many are chosen and led at once, and every verb shows its command", async () => {
    await page.getByLabel(`Select ${seed.busy}`).check();
    await page.getByLabel(`Select ${seed.inReview.agent}`).check();
    const bar = page.getByRole("region", { name: "Selection" });
    await bar.getByText("2 agents selected").waitFor();
    const verbs = await bar.getByRole("button").allInnerTexts();
    expect(verbs).toEqual([
      "Message",
      "Pause",
      "Resume",
      "Take over",
      "Restart",
      "Snapshot",
      "Fork",
      "End",
      "Clear",
    ]);
    await picture(page, "agents-bulk");
    await bar.getByRole("button", { name: "Pause" }).click();
    await card(seed.busy).getByText("Paused", { exact: true }).waitFor();
    await bar.getByRole("button", { name: "Resume" }).click();
    await card(seed.busy).getByText("Busy", { exact: true }).waitFor({ timeout: 30_000 });
    await bar.getByRole("button", { name: "Clear" }).click();
  });

  it("A3 a message reaches the agent", async () => {
    await page.getByRole("button", { name: `Do something with ${seed.busy}` }).click();
    await page.getByRole("menuitem", { name: /^Message/ }).click();
    const dialog = page.getByRole("dialog", { name: `Message ${seed.busy}` });
    await dialog.getByRole("textbox").fill("Leave the tests alone");
    await dialog.getByRole("button", { name: "Send" }).click();
    await page.getByText(`${seed.busy} reads it at its next safe point`).waitFor();
    await open(seed.busy, "events");
    await page.getByText("agent:mail").first().waitFor();
    await page.goto(`${here.url}/dashboard/agents`);
  });

  it("A4 the drawer warns before, refuses at the field, and spawns by one click", async () => {
    await card(seed.busy).waitFor();
    await page.keyboard.press("c");
    const drawer = page.getByRole("dialog", { name: "Spawn an agent" });
    const task = drawer.getByLabel("Task");
    await expect.poll(() => task.evaluate((one) => one === document.activeElement)).toBe(true);
    await drawer.getByText(/^2 agents like it cost so far: median \$/).waitFor();
    await drawer.getByRole("button", { name: "Spawn" }).click();
    await drawer.getByText("Say what is to be done, or name a bead.").waitFor();
    await task.fill("Say more [[work more.txt more]]");
    await drawer.getByLabel("Walls").selectOption("none");
    await drawer.getByText(/it can do all that the server can do/).waitFor();
    await drawer.getByLabel("Walls").selectOption("");
    await drawer.getByLabel("Bead", { exact: true }).fill("app-zzzzz");
    await drawer.getByRole("button", { name: "Spawn" }).click();
    await drawer.getByText('There is no bead "app-zzzzz".').waitFor();
    const field = drawer.getByLabel("Bead", { exact: true });
    await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
    await picture(page, "agents-spawn");
    await field.fill("");
    await drawer.getByLabel("Budget in dollars").fill("2.5");
    const command = await drawer.locator("code").last().innerText();
    expect(command).toBe("godel agent spawn 'Say more [[work more.txt more]]' --budget 2.5");
    const before = await page.locator("[data-agent]").count();
    await drawer.getByRole("button", { name: "Spawn" }).click();
    await drawer.waitFor({ state: "detached" });
    await page.getByText(/^worker-\d+ is on its way$/).waitFor();
    await page.mouse.move(5, 5);
    await page.locator("[data-agent]").nth(before).waitFor();
    const { items } = await read<{ items: { budgetMicros: number }[] }>(
      here,
      "/api/v1/agents?limit=1",
    );
    expect(items[0]?.budgetMicros).toBe(2_500_000);
  });

  it("A5 the timeline tells what was done, live", async () => {
    await open(seed.inReview.agent);
    const lines = page.getByRole("list", { name: "Timeline" });
    await lines
      .getByText(/hello from an agent/)
      .first()
      .waitFor();
    await lines.getByText("hello.txt is written and committed.").first().waitFor();
    await picture(page, "agent-timeline");
    await open(seed.busy);
    await page.getByRole("heading", { name: seed.busy }).waitFor();
    const paused = page.getByText(/^paused by/);
    // It was paused once before.
    await paused.first().waitFor();
    const many = await paused.count();
    await seeded.godel("agent", "pause", seed.busy);
    await paused.nth(many).waitFor();
    await seeded.godel("agent", "resume", seed.busy);
  });

  it("A5 the terminal shows the log as text, can be searched, and is the whole log", async () => {
    await open(seed.inReview.agent, "terminal");
    const log = page.getByRole("log");
    await log
      .getByText(/is-committed/)
      .first()
      .waitFor();
    const { items } = await read<{ items: unknown[] }>(
      here,
      `/api/v1/agents/${seed.inReview.agent}/logs?limit=500`,
    );
    await page.getByText(`${items.length} lines`, { exact: true }).waitFor();
    await page.getByLabel("Search the log").fill("Says done");
    await page.getByText("1 line", { exact: true }).waitFor();
    await picture(page, "agent-terminal");
  });

  it("A5 changes, cost and events are those of the API", async () => {
    await open(seed.inReview.agent, "changes");
    const file = page.getByRole("region", { name: "hello.txt" });
    await file.getByText("hello from an agent", { exact: true }).waitFor();
    await page.getByText("1 file, +1 −0").waitFor();
    await picture(page, "agent-changes");
    await page.getByRole("tab", { name: "Cost" }).click();
    const agent = await read<{ id: string; spentMicros: number }>(
      here,
      `/api/v1/agents/${seed.inReview.agent}`,
    );
    const calls = await read<{ total: number }>(here, `/proxy/v1/audit?agent=${agent.id}`);
    const table = page.getByRole("table", { name: "Requests to models" });
    await table.waitFor();
    await expect.poll(() => table.locator("tbody tr").count()).toBe(calls.total);
    const sum = `$${(agent.spentMicros / 1_000_000).toFixed(4)}`;
    await page.getByText(`${calls.total} requests, ${sum} in all`).waitFor();
    await picture(page, "agent-cost");
    await page.getByRole("tab", { name: "Events" }).click();
    await page.getByRole("button", { name: /agent:complete/ }).click();
    await page.getByText('"summary":', { exact: true }).waitFor();
    await picture(page, "agent-events");
  });

  it("A5 the context is that of the last request, and grew with those before", async () => {
    const { agent } = seed.inReview;
    const { id } = await seeded.json<{ id: string }>("agent", "show", agent);
    const events = await usageEvents(id);
    await open(agent, "context");
    const shown = page.getByRole("region", { name: "Its last request" });
    await expect
      .poll(() => shown.locator("[data-context]").getAttribute("data-context"))
      .toBe(String(contextOf(events[0])));
    await shown.getByText(/^<?\d+% of the [\d,]+ tokens that claude-opus-4-8 takes$/).waitFor();
    const output = events[0]?.payload.usage.output ?? -1;
    await shown
      .locator("[data-kind=output]")
      .getByText(output.toLocaleString("en-US"), { exact: true })
      .waitFor();
    await expect.poll(() => page.locator("[data-step]").count()).toBe(events.length);
    await page.getByText("Not yet: all of it is as it was said.").waitFor();
    await picture(page, "agent-context");
  });

  it("A5 a question stands under the action that asked, and is answered there", async () => {
    await open(seed.waiting);
    const line = page.locator('[data-line="agent:needs:person"]');
    await line.getByText("Which colour?").waitFor();
    await picture(page, "agent-question");
    await page.getByRole("tab", { name: "Cost" }).click();
    await page.getByRole("article", { name: "Question" }).waitFor();
    await page.getByRole("tab", { name: "Timeline" }).click();
    await line.getByRole("button", { name: "blue" }).click();
    await line.getByRole("button", { name: "blue" }).waitFor({ state: "detached" });
    await page.getByText(`${seed.waiting} was told: blue`).waitFor();
    const { items } = await read<{ items: { text: string; answer: string }[] }>(
      here,
      `/api/v1/inbox?filter=${encodeURIComponent('{"state":"all"}')}`,
    );
    expect(items.find(({ text }) => text === "Which colour?")?.answer).toBe("blue");
  });

  it("A5 an agent is ended after a question, and then says why nothing else can be done", async () => {
    await open(seed.busy);
    await page.getByRole("button", { name: "End" }).click();
    await page.getByRole("button", { name: `End ${seed.busy}` }).click();
    await page.getByText("Ended", { exact: true }).first().waitFor();
    const pause = page.getByRole("button", { name: "Pause" });
    await expect.poll(() => pause.getAttribute("aria-disabled")).toBe("true");
    const hint = await pause.getAttribute("aria-describedby");
    await expect
      .poll(() => page.locator(`[id="${hint}"]`).textContent())
      .toBe(`${seed.busy} has ended.`);
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
