import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Agent, Talk, TalkNode } from "../src/api/types";
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
import { type Seed, SeededServer } from "./seed";

describe("the session of an agent", () => {
  let seeded: SeededServer;
  let seed: Seed;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let name: string;
  let nodes: TalkNode[];

  beforeAll(async () => {
    ({ seeded, seed, here } = await SeededServer.start());
    name = seed.inReview.agent;
    nodes = await nodesOf(name);
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser));
    await signIn(page, here, `/agents/${name}?tab=session`);
    await badge(page, "Live").waitFor();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  const nodesOf = async (agent: string) =>
    (await read<{ items: TalkNode[] }>(here, `/api/v1/sessions/${agent}/nodes?limit=500`)).items;
  const talk = () => read<Talk>(here, `/api/v1/sessions/${name}`);
  const tree = () => page.getByRole("list", { name: "Session tree" });
  const line = (number: number) => page.locator(`[data-node="${number}"]`);
  const panel = () => page.getByRole("complementary", { name: "One node" });
  const last = () => nodes.at(-1)?.number ?? 0;

  it("X1 a conversation is a tree of its nodes, and what is in a row is folded", async () => {
    await tree().waitFor();
    await page.getByText(new RegExp(`^${nodes.length} nodes, 1 end, on main`)).waitFor();
    await picture(page, "session-folded");
    await page.getByRole("button", { name: "Unfold all" }).click();
    await expect.poll(() => tree().getAttribute("data-lines")).toBe(String(nodes.length));
    await line(last()).getByText("live", { exact: true }).waitFor();
    const words = nodes.at(-1)?.text.trim().split("\n")[0]?.slice(0, 20) ?? "";
    expect(words).not.toBe("");
    expect(await line(last()).innerText()).toContain(words);
  });

  it("X1 a node shows all that was said, and its address can be shared", async () => {
    await line(1).click();
    await panel().waitFor();
    expect(page.url()).toContain("node=1");
    expect(await panel().locator("pre").textContent()).toBe(nodes[1]?.text);
    await panel().getByText(`godel session fork ${name} --node 1`).last().waitFor();
    await page.reload();
    await panel().waitFor();
    await picture(page, "session-node");
  });

  it("X1 nodes say when they were kept, and together what the agent has spent", async () => {
    expect(nodes.every((node) => node.at != null)).toBe(true);
    const agent = await read<{ spentMicros?: number | null }>(here, `/api/v1/agents/${name}`);
    const known = nodes.flatMap((node) => node.costMicros ?? []);
    const sum = known.reduce((all, one) => all + one, 0);
    expect(sum).toBe(agent.spentMicros ?? 0);
    await panel().locator("[data-node-facts] time").waitFor();
  });

  it("X1 a branch begins at a node, is chosen, and stands beside the one before", async () => {
    const begin = panel().getByRole("button", { name: "Begin a branch here" });
    await expect.poll(() => begin.getAttribute("aria-disabled")).toBe("true");
    await panel().getByLabel("Name of a new branch").fill("attempt-2");
    await begin.click();
    await line(1).getByText("attempt-2", { exact: true }).waitFor();
    await expect.poll(async () => (await talk()).branches).toMatchObject({ "attempt-2": 1 });
    await panel().getByRole("button", { name: "Go on with attempt-2" }).click();
    await line(1).getByText("live", { exact: true }).waitFor();
    await expect.poll(async () => (await talk()).branch).toBe("attempt-2");
    // Somebody else changes it, and the tree follows by itself.
    await seeded.godel("session", "compact", name);
    nodes = await nodesOf(name);
    await line(last()).getByText("live", { exact: true }).waitFor();
    await page.getByText(new RegExp(`^${nodes.length} nodes, 2 ends, on attempt-2`)).waitFor();
    await page.getByRole("button", { name: "Unfold all" }).click();
    await expect.poll(() => page.locator('[data-lane="1"]').count()).toBe(nodes.length - 3);
    await picture(page, "session-branch");
  });

  it("X1 the live end is one click away", async () => {
    await page.getByRole("button", { name: "Go to the live end" }).click();
    await expect.poll(() => line(last()).getAttribute("aria-pressed")).toBe("true");
    await page.keyboard.press("Escape");
    await panel().waitFor({ state: "detached" });
    expect(page.url()).toContain("tab=session");
  });

  it("X1 two ends are compared by what each said alone", async () => {
    await page.getByRole("button", { name: "Compare two ends" }).click();
    await page.getByText("They share 2 nodes, up to #1.").waitFor();
    const own = (side: string) =>
      page
        .getByRole("region", { name: side })
        .locator("[data-own]")
        .evaluateAll((all) => all.map((one) => Number(one.getAttribute("data-own"))));
    const main = nodes.map(({ number }) => number).filter((one) => one > 1 && one < last());
    await expect.poll(() => own("First end")).toEqual(main);
    await expect.poll(() => own("Second end")).toEqual([last()]);
    // Nobody took a snapshot of the first one: that is said, and what to do.
    const files = page.getByRole("region", { name: "Their files" });
    await files.getByText("No files were kept at this end.").waitFor();
    await files.getByText(`godel agent snapshot ${name}`).waitFor();
    await files.getByText("Second end: its worktree as it is now").waitFor();
    await picture(page, "session-compare");
    await page.getByRole("combobox", { name: "Second end" }).selectOption(String(last() - 1));
    await page.getByText(`They share ${last()} nodes, up to #${last() - 1}.`).waitFor();
    await page.getByRole("button", { name: "Show the tree" }).click();
  });

  it("X1 another agent goes on from a node", async () => {
    const agents = async () =>
      (await read<{ items: Agent[] }>(here, "/api/v1/agents")).items.map(({ label }) => label);
    const before = await agents();
    await line(1).click();
    await panel().getByRole("button", { name: "Fork here" }).click();
    await page.getByText(/goes on from node 1$/).waitFor();
    const made = (await agents()).filter((label) => !before.includes(label));
    expect(made).toHaveLength(1);
    await page.getByRole("button", { name: "Open", exact: true }).click();
    await page.getByRole("heading", { name: made[0] ?? "", exact: true }).waitFor();
  });

  it("X1 a snapshot is a mark at the node at which it was taken", async () => {
    await seeded.godel("agent", "snapshot", seed.waiting);
    const { items } = await read<{ items: { agent: string; node?: number }[] }>(
      here,
      "/api/v1/snapshots",
    );
    const taken = items.find(({ agent }) => agent === seed.waiting);
    await page.goto(`${here.url}/dashboard/agents/${seed.waiting}?tab=session`);
    await line(taken?.node ?? -1)
      .getByText("1 snapshot")
      .waitFor();
    await picture(page, "session-snapshot");
    await line(taken?.node ?? -1).click();
    await panel().getByRole("region", { name: "Snapshots" }).getByRole("listitem").waitFor();
    await panel().getByLabel("Name of a new branch").fill("other");
    const begin = panel().getByRole("button", { name: "Begin a branch here" });
    await expect.poll(() => begin.getAttribute("aria-disabled")).toBe("true");
  });

  it("X1 two ends are compared by their files, and what git ignores is not shown", async () => {
    const agent = seed.waiting;
    await seeded.godel("agent", "pause", agent);
    const state = async () => (await read<Agent>(here, `/api/v1/agents/${agent}`)).lifecycleState;
    await expect.poll(state, { timeout: 30_000 }).toBe("paused");
    await seeded.godel("session", "branch", agent, "another", "--node", "0");
    await seeded.godel("session", "switch", agent, "another");
    await seeded.godel("session", "compact", agent);
    const { worktree } = await read<Agent>(here, `/api/v1/agents/${agent}`);
    const write = (path: string, text: string) => writeFile(join(worktree ?? "", path), text);
    await write(".gitignore", ".env\n");
    await write(".env", "TOKEN=hidden\n");
    await write("README.md", "Another project.\n");
    await page.goto(`${here.url}/dashboard/agents/${agent}?tab=session&compare=ends`);
    const files = page.getByRole("region", { name: "Their files" });
    await files.getByText("2 files,").waitFor();
    const readme = files.getByRole("region", { name: "README.md" });
    await readme.getByText("Another project.", { exact: true }).waitFor();
    await readme.getByText("A project.", { exact: true }).waitFor();
    await files.getByRole("region", { name: ".gitignore" }).waitFor();
    expect(await files.innerText()).not.toContain("hidden");
    await picture(page, "session-compare-files");
    // The other way round, what was new is gone.
    const end = (side: string) => page.getByRole("combobox", { name: side });
    const [one, two] = [await end("First end").inputValue(), await end("Second end").inputValue()];
    await end("First end").selectOption(two);
    await end("Second end").selectOption(one);
    await files.getByText(`godel session compare ${agent} ${two} ${one}`).waitFor();
    await files.getByRole("region", { name: ".gitignore" }).getByText("deleted").waitFor();
  });

  it("X1 nothing keeps people out of a node and of two ends, in either theme", async () => {
    await eachTheme(browser, here, `/agents/${name}?tab=session&node=1`, async (own, theme) => {
      await own.getByRole("complementary", { name: "One node" }).waitFor();
      await picture(own, `session-${theme}`);
      expect(await barriers(own), theme).toEqual([]);
      await own.goto(`${here.url}/dashboard/agents/${name}?tab=session&compare=ends`);
      await own.getByText(/^They share/).waitFor();
      expect(await barriers(own), `compare ${theme}`).toEqual([]);
      await own.setViewportSize({ width: 390, height: 800 });
      await own.goto(`${here.url}/dashboard/agents/${name}?tab=session`);
      await own.getByRole("list", { name: "Session tree" }).waitFor();
      await picture(own, `session-narrow-${theme}`);
      expect(await barriers(own), `narrow ${theme}`).toEqual([]);
      expect(await cutOff(own)).toEqual([]);
    });
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
