import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Attempts, Preview, WorktreeList } from "../src/api/types";
import { itemsOf } from "./acts";
import { makeBead, until } from "./beadSeed";
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

/** It works until the test is over, on a page that is served as it is. */
const PAINT = "Paint it [[shell echo '<h1>painted by an agent</h1>' > index.html; sleep 600]]";
/** In its worktree there is nothing that tells how the app is started. */
const EMPTY = "Start anew [[shell rm -f index.html; sleep 600]]";
const DONE = "Finish it [[work index.html <h1>finished</h1>]]";
const TWO = `[[shell case $(git var GIT_AUTHOR_IDENT) in attempt-*-1' '*) echo '<h1>one</h1>' > index.html;; *) echo '<h1>two</h1>' > index.html;; esac; git add -A; git commit -qm work]] [[then]] [[call done {"summary":"tried"}]]`;
/** Agents are made and models asked first, and a sandbox for what is previewed. */
const SLOW = { timeout: 120_000 };

describe("the app that an agent works on, running", () => {
  let seeded: SeededServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  /** Beads by the agents that work on them. */
  const beads: Record<string, string> = {};
  let tried: string;

  beforeAll(async () => {
    ({ seeded, here } = await SeededServer.bare());
    await seeded.commit({ "index.html": "<h1>as it was</h1>\n" });
    await seeded.introduce();
    tried = await makeBead(seeded, "Paint it two ways", "--description", TWO);
    const tasks = { painter: PAINT, beginner: EMPTY, finisher: DONE };
    for (const [name, task] of Object.entries(tasks)) {
      await seeded.godel("agent", "spawn", task, "--name", name);
    }
    const agent = (name: string) =>
      seeded.json<{ bead: string; lifecycleState: string }>("agent", "show", name);
    const state = async (name: string) => (await agent(name)).lifecycleState;
    const is = (name: string, wanted: string) => until(async () => (await state(name)) === wanted);
    await is("painter", "executing");
    await is("beginner", "executing");
    await is("finisher", "completed");
    for (const name of Object.keys(tasks)) beads[name] = (await agent(name)).bead;
    const served = await fileOf("beginner", "index.html");
    await until(async () => !existsSync(served));
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser));
    await signIn(page, here, "/agents/painter");
    await badge(page, "Live").waitFor();
  }, 400_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  const previews = () => itemsOf<Preview>(here, "/api/v1/previews");
  const running = async () => (await previews()).filter(({ state }) => state !== "ended");
  const about = (name: string, on = page) =>
    on.getByRole("complementary", { name: `Agent ${name}` });
  const panelOf = (name: string) =>
    page.getByRole("complementary", { name: `Bead ${beads[name]}` });
  const link = (inside: Locator) =>
    inside.getByRole("link", { name: /^Open http:\/\/127\.0\.0\.1/ });
  const start = (inside: Locator) =>
    inside.getByRole("button", { name: "Preview the app" }).click();
  const stop = (inside: Locator) =>
    inside.getByRole("button", { name: "Stop", exact: true }).click();

  /** The file that an agent works on, as the server has it on disk. */
  async function fileOf(name: string, file: string): Promise<string> {
    const { items } = await read<WorktreeList>(here, "/api/v1/worktrees");
    const found = items.find(({ id }) => id === beads[name]);
    if (!found) throw new Error(`${name} has no worktree`);
    return join(found.path, file);
  }

  /** Where the app is, as the page says it; the test reads it as a browser would. */
  async function addressIn(inside: Locator): Promise<string> {
    await link(inside).waitFor(SLOW);
    const href = (await link(inside).getAttribute("href")) ?? "";
    expect(href).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    expect(await link(inside).getAttribute("target")).toBe("_blank");
    expect(await link(inside).getAttribute("rel")).toBe("noopener noreferrer");
    return href;
  }

  it("C5 the app of an agent is started beside it, and shows its files as they change", async () => {
    await start(about("painter"));
    const address = await addressIn(about("painter"));
    await about("painter").getByText("live: the files of painter, as they change").waitFor();
    await about("painter")
      .getByText(/^in \d+h$/)
      .waitFor();
    await expect.poll(() => bodyOf(address)).toContain("painted by an agent");
    await writeFile(await fileOf("painter", "index.html"), "<h1>painted again</h1>\n");
    await expect.poll(() => bodyOf(address)).toContain("painted again");
    const [only] = await running();
    expect(only).toMatchObject({ bead: beads.painter, agent: "painter", isLive: true });
    expect(only?.url).toBe(address);
    await picture(page, "preview-agent");
    expect(await barriers(page)).toEqual([]);
  }, 180_000);

  it("C5 a card has the same, and stops it; others see that without a reload", async () => {
    const other = await page.context().newPage();
    await other.goto(`${here.url}/dashboard/agents/painter`);
    await link(about("painter", other)).waitFor();
    await page.goto(`${here.url}/dashboard/convoys?peek=${beads.painter}`);
    const address = await addressIn(panelOf("painter"));
    await picture(page, "preview-card");
    expect(await barriers(page)).toEqual([]);
    await stop(panelOf("painter"));
    await panelOf("painter").getByText("Preview ended", { exact: true }).waitFor();
    await about("painter", other).getByText("Preview ended", { exact: true }).waitFor();
    await expect.poll(running).toEqual([]);
    await expect.poll(() => bodyOf(address)).toBe("nothing is there");
    await about("painter", other).getByRole("button", { name: "Start again" }).click();
    await link(panelOf("painter")).waitFor(SLOW);
    await expect
      .poll(async () => bodyOf(await addressIn(panelOf("painter"))))
      .toContain("painted again");
    await stop(panelOf("painter"));
    await expect.poll(running).toEqual([]);
    await other.close();
  }, 180_000);

  it("C5 nobody is offered to look at what was not begun", async () => {
    await page.goto(`${here.url}/dashboard/beads?peek=${tried}`);
    const panel = page.getByRole("complementary", { name: `Bead ${tried}` });
    await panel.getByRole("tab", { name: "About" }).waitFor();
    expect(await panel.getByRole("button", { name: "Preview the app" }).count()).toBe(0);
  });

  it("C5 how it is started is asked if nobody knows; what was written stays", async () => {
    await page.goto(`${here.url}/dashboard/agents/beginner`);
    await start(about("beginner"));
    const field = about("beginner").getByLabel("How the app is started");
    await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
    await about("beginner").getByRole("alert").waitFor();
    await picture(page, "preview-command");
    expect(await barriers(page)).toEqual([]);
    await field.fill("echo no such app; exit 3");
    await page.reload();
    await expect.poll(() => field.inputValue()).toBe("echo no such app; exit 3");
    await start(about("beginner"));
    await about("beginner").getByText("Preview ended", { exact: true }).waitFor(SLOW);
    await about("beginner").getByText("with code 3", { exact: true }).waitFor();
    await about("beginner").getByRole("button", { name: "What it printed" }).click();
    await about("beginner").locator("pre", { hasText: "no such app" }).waitFor();
    await picture(page, "preview-ended");
    expect(await barriers(page)).toEqual([]);
    expect(await running()).toEqual([]);
  }, 180_000);

  it("C5 what waits for a review is shown by its commit", async () => {
    await page.goto(`${here.url}/dashboard/review/${beads.finisher}`);
    const main = page.getByRole("main");
    await start(main);
    const address = await addressIn(main);
    await main.getByText(/^of commit/).waitFor();
    await expect.poll(() => bodyOf(address)).toContain("finished");
    const [only] = await running();
    expect(only).toMatchObject({ bead: beads.finisher, isLive: false });
    expect(only?.commit).toBe(await seeded.git("rev-parse", `bead/${beads.finisher}`));
    await picture(page, "preview-review");
    await stop(main);
    await expect.poll(running).toEqual([]);
  }, 180_000);

  it("C7 attempts are looked at side by side, each at a port of its own", async () => {
    await seeded.godel("attempt", "start", tried, "--attempts", "2");
    const isAtRest = async () =>
      (await read<Attempts>(here, `/api/v1/beads/${tried}/attempts`)).needsChoice;
    await expect.poll(isAtRest, SLOW).toBe(true);
    await page.goto(`${here.url}/dashboard/beads?peek=${tried}&tab=work&attempt=1`);
    const list = page
      .getByRole("dialog", { name: `The attempts at ${tried}` })
      .getByRole("list", { name: "Previews of the attempts" });
    const attempt = (number: number) => list.locator(`[data-previewed="${number}"]`);
    const addresses: string[] = [];
    for (const number of [1, 2]) {
      await list.getByRole("button", { name: `Preview the app: attempt ${number}` }).click();
      addresses.push(await addressIn(attempt(number)));
    }
    expect(new Set(addresses).size).toBe(2);
    await expect.poll(() => bodyOf(addresses[0])).toContain("one");
    await expect.poll(() => bodyOf(addresses[1])).toContain("two");
    await picture(page, "preview-attempts");
    expect(await barriers(page)).toEqual([]);
    for (const number of [1, 2]) {
      await list.getByRole("button", { name: `Stop: attempt ${number}` }).click();
      await attempt(number).getByText("Preview ended", { exact: true }).waitFor();
    }
    await expect.poll(running).toEqual([]);
  }, 300_000);

  it("G17 the same in either theme, and on a phone", async () => {
    await eachTheme(browser, here, "/agents/beginner", async (own, theme) => {
      await about("beginner", own).getByText("Preview ended", { exact: true }).waitFor();
      await about("beginner", own).getByRole("button", { name: "What it printed" }).click();
      await about("beginner", own).locator("pre").waitFor();
      expect(await barriers(own), theme).toEqual([]);
      await own.setViewportSize({ width: 320, height: 700 });
      expect(await cutOff(own), theme).toEqual([]);
      await picture(own, `preview-${theme}`);
    });
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});

/** What is at an address. */
async function bodyOf(address = ""): Promise<string> {
  try {
    return await (await fetch(address)).text();
  } catch {
    return "nothing is there";
  }
}
