import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { itemsOf } from "./acts";
import { makeBead } from "./beadSeed";
import { badge, openBrowser, picture, read, signIn, visitor, type World } from "./browser";
import { SeededServer } from "./seed";

const run = promisify(execFile);
/** Fails if something is broken. */
const CHECK = "#!/bin/sh\n[ ! -e broken ] || { echo broken is there; exit 1; }\n";
const GATED = `[gates]\ntest = "sh check.sh"\n[agents]\nmodel = "claude-opus-4-8"\n`;
/** What whoever repairs the conflict is told to do, in the words of the bead. */
const REPAIR = `[[shell git merge -q main; printf 'one\\nfrom both\\nthree\\n' > shared.txt; git add -A; git commit -qm both]] [[then]] [[call done {"summary":"both are there"}]]`;
/** What the first agent does, in words that the scripted model obeys. */
const IN_WORDS = `[[shell echo thirty > number.txt; git add -A; git commit -qm words]] [[then]] [[call done {"summary":"in words"}]]`;
/** What is wanted of a line, in words that the scripted model obeys. */
const IN_DIGITS = `Say it in digits [[shell echo 30 > number.txt; git add -A; git commit -qm digits]] [[then]] [[call done {"summary":"in digits"}]]`;
/** What a turn is said to have used: far more than what is held back for one that is cheap. */
const DEAR = "[[usage input=20000 output=4000]]";
/** Gates run and agents work on the server, one after the other. */
const SLOW = { timeout: 90_000 };

interface Known {
  lifecycleState: string;
  worktree: string;
  note?: string;
}

describe("whole journeys, in the browser", () => {
  let seeded: SeededServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    ({ seeded, here } = await SeededServer.bare());
    await seeded.commit({
      "godel.toml": GATED,
      "check.sh": CHECK,
      "shared.txt": "one\ntwo\nthree\n",
    });
    await seeded.introduce();
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser));
    await signIn(page, here, "/landing");
    await badge(page, "Live").waitFor();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  /** Work as it stands when its agent has ended: a branch, and a bead that waits for review. */
  async function work(title: string, files: Record<string, string>): Promise<string> {
    const bead = await makeBead(seeded, title);
    const tree = join(seeded.server.folder, `by-hand-${bead}`);
    await seeded.git("worktree", "add", "-q", "-b", `bead/${bead}`, tree, "main");
    for (const [path, text] of Object.entries(files)) await writeFile(join(tree, path), text);
    await run("git", ["-C", tree, "add", "-A"]);
    await run("git", ["-C", tree, "commit", "-q", "-m", title]);
    await seeded.git("worktree", "remove", "--force", tree);
    await rm(tree, { recursive: true, force: true });
    await seeded.godel("bead", "status", bead, "review");
    return bead;
  }

  async function accept(bead: string): Promise<void> {
    await page.goto(`${here.url}/dashboard/review/${bead}`);
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByRole("button", { name: "Send to the merge queue" }).click();
    await page.getByText(`${bead} is in the merge queue`).waitFor();
  }

  it("A15 of three accepted beads two in conflict are repaired and land, and the one that breaks tests is put aside", async () => {
    const base = await seeded.git("rev-parse", "main");
    const mine = await work("Say mine", { "shared.txt": "one\nmine\nthree\n" });
    const yours = await work(`Say yours ${REPAIR}`, { "shared.txt": "one\nyours\nthree\n" });
    const broken = await work("Break it", { broken: "yes\n" });
    await seeded.godel("land", "pause", "--reason", "all at once");
    for (const bead of [mine, yours, broken]) await accept(bead);
    await page.goto(`${here.url}/dashboard/landing`);
    const entry = (bead: string) => page.locator(`[data-landing="${bead}"]`);
    const stage = (bead: string, word: string) =>
      page.locator(`[data-landing="${bead}"][data-stage="${word}"]`).waitFor(SLOW);
    await entry(broken).waitFor();
    await page.getByRole("button", { name: /^Resume/ }).click();
    await stage(mine, "landed");
    await stage(broken, "failed");
    await entry(broken)
      .getByText(/broken is there/)
      .waitFor();
    // An agent brings both sides of the conflict together, and the repair is judged as any work is.
    await stage(yours, "landed");
    await entry(yours)
      .getByText(/^refinery-.* was asked to repair it\.$/)
      .waitFor();
    await picture(page, "journey-landing");
    expect(await seeded.git("show", "main:shared.txt")).toBe("one\nfrom both\nthree");
    // The branch passed its gate at each of its commits, not only at the last one.
    for (const commit of (await seeded.git("rev-list", `${base}..main`)).split("\n")) {
      expect(await seeded.git("ls-tree", "--name-only", commit)).not.toContain("broken");
    }
    expect((await seeded.json<{ status: string }>("bead", "show", broken)).status).toBe("review");
  }, 240_000);

  it("R8 what a person says about a line the next agent answers with a commit, and the review shows both", async () => {
    const bead = await makeBead(seeded, "Write a number");
    const status = async () =>
      (await read<{ status: string }>(here, `/api/v1/beads/${bead}`)).status;
    await seeded.godel("agent", "spawn", "--bead", bead, IN_WORDS);
    await expect.poll(status, { timeout: 60_000 }).toBe("review");
    await page.goto(`${here.url}/dashboard/review/${bead}`);
    const bar = page.locator('[data-hunk-bar="number.txt:1"]');
    await bar.getByRole("button", { name: "Comment" }).click();
    await page.getByLabel("About line 1").fill(IN_DIGITS);
    await page.keyboard.press("Control+Enter");
    const thread = page.locator("[data-thread]").first();
    await thread.getByText("Not sent yet").waitFor();
    await page.getByRole("button", { name: "Request changes" }).click();
    await page.getByRole("button", { name: "Send" }).click();
    // It goes back to work, and comes again by itself.
    await page.getByText(/^Round 1: .* goes on with /).waitFor();
    await page.getByText("Sent in round 1").first().waitFor();
    // The page has what was pushed without being loaded anew.
    const line = page.locator("[data-line]").getByText("30", { exact: true });
    await line.first().waitFor({ timeout: 30_000 });
    expect(await seeded.git("show", `bead/${bead}:number.txt`)).toBe("30");
    await picture(page, "journey-answered");
    await accept(bead);
    await expect.poll(status, { timeout: 60_000 }).toBe("done");
    expect(await seeded.git("show", "main:number.txt")).toBe("30");
  }, 150_000);

  it("B8 a budget warns, then refuses before money is spent; work is kept, and goes on when it is raised", async () => {
    const spawn = async (name: string) =>
      seeded.godel("agent", "spawn", `Write it ${DEAR} [[work ${name}.txt text]]`, "--name", name);
    const agent = (name: string) => seeded.json<Known>("agent", "show", name);
    const is = (name: string, state: string) =>
      expect.poll(async () => (await agent(name)).lifecycleState, SLOW).toBe(state);
    const spent = async () =>
      (await seeded.json<{ total: { costMicros: number } }>("usage")).total.costMicros;
    const before = await spent();
    await spawn("first");
    await is("first", "completed");
    const one = (await spent()) - before;
    await page
      .getByRole("link", { name: /^Inbox/ })
      .first()
      .click();
    // What is left when another one like it is done is too little for a third one.
    const cap = ((one * 2.2) / 1e6).toFixed(6);
    await seeded.godel("budget", "set", "project:app", `${cap}/day`);
    await spawn("second");
    await is("second", "completed");
    const card = page.getByRole("article", { name: "Budget", exact: true });
    await card.getByText(/\d% used/).waitFor(SLOW);
    await picture(page, "journey-budget-warns");

    await spawn("third");
    await is("third", "paused");
    const third = await agent("third");
    expect(third.note).toMatch(/^its budget is spent/);
    expect(existsSync(third.worktree)).toBe(true);
    const stopped = await spent();
    // One call at most goes beyond the limit; an agent makes two.
    expect(stopped - before).toBeLessThan(one * 2.8);
    await page.getByText(/third/).first().waitFor();
    await picture(page, "journey-budget-stops");
    // Nothing more is spent while it stands still.
    expect(await spent()).toBe(stopped);

    await card.getByRole("link", { name: "Raise the budget" }).first().click();
    const dialog = page.getByRole("dialog", { name: "Change the budget" });
    await dialog.getByLabel("Limit, in dollars").fill("5");
    await dialog.getByRole("button", { name: "Change the budget" }).click();
    await dialog.waitFor({ state: "detached" });
    const { capMicros } = (await itemsOf<{ capMicros: number }>(here, "/api/v1/budgets"))[0] ?? {};
    expect(capMicros).toBe(5_000_000);
    // It goes on by itself.
    await is("third", "completed");
    const { open } = await read<{ open: number }>(here, "/api/v1/inbox/count");
    expect(open).toBe((await itemsOf(here, "/api/v1/inbox?limit=100")).length);
  }, 240_000);

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
