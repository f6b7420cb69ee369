import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type {
  AgentToken,
  AuditEntry,
  Bead,
  Letter,
  Memory,
  Task,
  TaskDetail,
  UserExport,
  Worktree,
} from "../src/api/types";
import { fileOf, fromMenu, itemsOf, undoOf } from "./acts";
import { makeBead } from "./beadSeed";
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
import { type Seed, SeededServer } from "./seed";

describe("verbs that were on the command line alone", () => {
  let seeded: SeededServer;
  let here: World;
  let seed: Seed;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    ({ seeded, here, seed } = await SeededServer.start());
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser));
    await signIn(page, here, "/settings/tokens");
    await badge(page, "Live").waitFor();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  const go = (place: string) => page.goto(`${here.url}/dashboard${place}`);
  const drawer = (name: string) => page.getByRole("dialog", { name, exact: true });
  const row = (name: string) => page.getByRole("row", { name: new RegExp(name) });
  const task = async (title: string) =>
    (await itemsOf<Task>(here, "/api/v1/tasks")).find((one) => one.title === title);
  const token = async (name: string) =>
    (await itemsOf<AgentToken>(here, "/api/v1/agent-tokens")).find((one) => one.name === name);

  const act = (on: string, item: RegExp) => fromMenu(page, on, item);

  it("G12 token create, list, revoke: a token is shown once, opens the models, and ends", async () => {
    const grid = page.getByRole("grid", { name: "Tokens" });
    await grid.getByRole("row").nth(1).waitFor();
    await page.getByRole("button", { name: "Create a token" }).click();
    const form = drawer("Create a token");
    await form.getByLabel("Name", { exact: true }).fill("laptop");
    await form.getByLabel("It ends").selectOption("8h");
    await form.getByLabel("It may spend in all, in dollars").fill("5");
    await form.getByLabel("Only these models").fill("claude-*");
    await form.getByLabel("Works for the project").selectOption({ label: seed.project });
    await form.getByText(/^godel token create laptop --project app --models/).waitFor();
    await picture(page, "verbs-token-form");
    expect(await barriers(page)).toEqual([]);
    await form.getByRole("button", { name: "Create the token" }).click();
    const once = drawer("The token laptop");
    const secret = (await once.locator("code").first().textContent()) ?? "";
    expect(secret).toMatch(/^godel_at_/);
    await picture(page, "verbs-token-once");
    const models = async () =>
      (await fetch(`${here.url}/proxy/v1/models`, { headers: { "x-api-key": secret } })).status;
    const working = await models();
    expect(working).not.toBe(401);
    await once.getByRole("button", { name: "I have kept it" }).click();
    await row("laptop").getByText("project app").waitFor();
    expect(await page.content()).not.toContain(secret);
    expect(await token("laptop")).toMatchObject({ models: ["claude-*"] });
    await picture(page, "verbs-tokens");
    expect(await barriers(page)).toEqual([]);

    await act("Do something with the token laptop", /^Revoke/);
    await drawer("Revoke laptop?").getByRole("button", { name: "Revoke it" }).click();
    await row("laptop").getByText("revoked", { exact: true }).waitFor();
    await expect.poll(async () => Boolean((await token("laptop"))?.revokedAt)).toBe(true);
    await expect.poll(models).toBe(401);
    await page.reload();
    await grid.getByRole("row").nth(1).waitFor();
    expect(await row("laptop").count()).toBe(0);
    await page.getByLabel("Which tokens").selectOption("all");
    await row("laptop").waitFor();
  });

  it("G12 audit export: the file has what the command line writes", async () => {
    await go("/settings/audit?action=project:create");
    await page.getByRole("grid", { name: "Acts" }).getByRole("row").nth(1).waitFor();
    await picture(page, "verbs-audit");
    const { name, text } = await fileOf(page, () =>
      page.getByRole("button", { name: "Export", exact: true }).click(),
    );
    expect(name).toBe("godel-audit.jsonl");
    const told = await seeded.server.cli("audit", "export", "--action", "project:create");
    const acts = linesOf<AuditEntry>(text);
    expect(acts.map(({ action }) => action)).toEqual(["project:create"]);
    expect(acts).toEqual(linesOf<AuditEntry>(told));
  });

  it("G12 user export: all that is known of a person, also of oneself", async () => {
    await go("/settings/people");
    await page.locator('[data-line="owner"]').waitFor();
    const { name, text } = await fileOf(page, () =>
      act("Do something with owner", /^Export what is known/),
    );
    expect(name).toBe("owner.json");
    const known: UserExport = JSON.parse(text);
    expect(known.user.name).toBe("owner");
    expect(known.acts.length).toBeGreaterThan(0);
    await go("/settings/session");
    const own = await fileOf(page, () =>
      page.getByRole("button", { name: "Export what is known of you" }).click(),
    );
    expect(JSON.parse(own.text).user).toMatchObject({ id: known.user.id, name: "owner" });
    await picture(page, "verbs-session");
  });

  it("G12 task batch: many tasks of a text, and what is wrong is told by its line", async () => {
    await go("/queue");
    await page.getByRole("grid", { name: "Tasks" }).getByRole("row").nth(1).waitFor();
    await page.getByRole("button", { name: "Many tasks" }).click();
    const form = drawer("Many tasks");
    const box = form.getByLabel("The tasks, one JSON object a line");
    await box.fill('{"title": "build web", "pool": "ci"}\n{"pool": "ci"}');
    await form.getByText("It has no title.").waitFor();
    await picture(page, "verbs-batch");
    expect(await barriers(page)).toEqual([]);
    await form.locator("input[type=file]").setInputFiles({
      name: "tasks.jsonl",
      mimeType: "application/x-ndjson",
      buffer: Buffer.from('{"title": "build web", "pool": "ci"}\n{"title": "build api"}\n'),
    });
    await form.getByRole("button", { name: "Make 2 tasks" }).click();
    await form.waitFor({ state: "detached" });
    await page.getByText("2 tasks are in the queue", { exact: true }).waitFor();
    await row("build web").waitFor();
    await expect.poll(async () => (await task("build web"))?.pool).toBe("ci");
    expect((await task("build api"))?.pool).toBe("default");
  });

  it("G12 task assign: only the worker that was named gets the task", async () => {
    const godel = async (...words: string[]) => (await seeded.server.cli(...words)).trim();
    const smith = await godel("worker", "register", "--name", "smith", "--pool", "ci");
    const other = await godel("worker", "register", "--name", "other", "--pool", "ci");
    await row("build web").getByText("build web").click();
    const panel = page.getByRole("complementary", { name: "One task" });
    await panel.getByRole("button", { name: "Assign to a worker" }).click();
    await page.getByRole("menuitem", { name: /^smith/ }).waitFor();
    await picture(page, "verbs-assign");
    expect(await barriers(page)).toEqual([]);
    await page.getByRole("menuitem", { name: /^smith/ }).click();
    await page.getByText("build web waits for smith alone", { exact: true }).waitFor();
    const holder = async () => {
      const { id = "" } = (await task("build web")) ?? {};
      return (await read<TaskDetail>(here, `/api/v1/tasks/${id}`)).workerId ?? undefined;
    };
    await godel("worker", "claim", other);
    expect(await holder()).toBeUndefined();
    await godel("worker", "claim", smith);
    await expect.poll(holder).toBe(smith);
  });

  it("G12 mail list, send: a letter to an agent, and one to the reader that is answered", async () => {
    const letters = (agent: string) =>
      itemsOf<Letter>(
        here,
        `/api/v1/mail?${new URLSearchParams({ filter: JSON.stringify({ agent }) })}`,
      );
    await go(`/agents?peek=${seed.busy}`);
    const panel = page.getByRole("complementary", { name: `Agent ${seed.busy}` });
    await panel.getByRole("button", { name: "Letters" }).click();
    const box = drawer(`Letters to ${seed.busy}`);
    await box.getByText(`Nobody has written to ${seed.busy} yet.`).waitFor();
    await box.getByLabel(`Write to ${seed.busy}`).fill("Think of the tests, too");
    await box.getByRole("button", { name: "Send" }).click();
    const list = box.getByRole("list", { name: "Letters" });
    await list.getByText("Think of the tests, too").waitFor();
    await expect
      .poll(async () => (await letters(seed.busy)).map(({ text }) => text))
      .toEqual(["Think of the tests, too"]);
    await picture(page, "verbs-letters");
    expect(await barriers(page)).toEqual([]);
    await box.getByRole("button", { name: "Close" }).click();

    await seeded.server.cli("mail", "send", "owner", "Lunch?");
    await act("Snapshots, sessions and more", /^Letters to you/);
    const own = drawer("Letters to you");
    await own.getByRole("list", { name: "Letters" }).getByText("Lunch?").waitFor();
    await own.getByRole("button", { name: "Answer owner" }).click();
    await own.getByLabel("What it says").fill("At noon");
    await own.getByText("godel mail send owner 'At noon'").waitFor();
    await own.getByRole("button", { name: "Send" }).click();
    await own.getByRole("list", { name: "Letters" }).getByText("At noon").waitFor();
    await picture(page, "verbs-letters-own");
    const mine = await itemsOf<Letter>(here, "/api/v1/mail");
    expect(mine.map(({ text }) => text)).toEqual(["At noon", "Lunch?"]);
  });

  it("G12 worktree list, info: where each agent works, and what is in it", async () => {
    const known = await itemsOf<Worktree>(here, "/api/v1/worktrees");
    expect(known.length).toBeGreaterThan(1);
    await go("/agents");
    await act("Snapshots, sessions and more", /^All worktrees/);
    const box = drawer("Worktrees");
    for (const { id, path } of known) {
      await box.locator(`[data-worktree="${id}"]`).getByText(path, { exact: true }).waitFor();
    }
    const reviewed = box.locator(`[data-worktree="${seed.inReview.bead}"]`);
    await reviewed.getByText(/^1 commit ahead/).waitFor();
    await picture(page, "verbs-worktrees");
    expect(await barriers(page)).toEqual([]);
  });

  it("G12 worktree remove: work that nobody else has is saved, and told how to get back", async () => {
    await seeded.godel("worktree", "create", "by-hand");
    const tree = join(seeded.repository, ".godel/worktrees/by-hand");
    await writeFile(join(tree, "draft.txt"), "a draft\n");
    await go("/agents");
    await act("Snapshots, sessions and more", /^All worktrees/);
    const box = drawer("Worktrees");
    await box
      .locator('[data-worktree="by-hand"]')
      .getByRole("button", { name: "Remove", exact: true })
      .click();
    await page.getByText(/^In it: 1 file not committed/).waitFor();
    await page.getByRole("button", { name: "Remove it" }).click();
    const saved = box.locator('[data-saved-work="by-hand"]');
    await saved.getByText(/^git branch rescued\/by-hand/).waitFor();
    await picture(page, "verbs-worktree-removed");
    const names = async () =>
      (await itemsOf<Worktree>(here, "/api/v1/worktrees")).map(({ id }) => id);
    expect(await names()).not.toContain("by-hand");
    const [command = ""] = (await saved.locator("code").allTextContents()).filter((text) =>
      text.startsWith("git branch"),
    );
    await seeded.git(...command.split(" ").slice(1));
    expect(await seeded.git("show", "rescued/by-hand:draft.txt")).toBe("a draft");
  });

  it("G12 worktree cleanup: those whose work has ended go, after they were named", async () => {
    await seeded.godel("worktree", "create", "ended-well", "--cleanup", "on-success");
    const tree = join(seeded.repository, ".godel/worktrees/ended-well");
    await writeFile(join(tree, "ended.txt"), "ended\n");
    await seeded.git("-C", tree, "add", "ended.txt");
    await seeded.git("-C", tree, "commit", "-q", "-m", "It ended well");
    await seeded.git("merge", "-q", "bead/ended-well");
    await go("/agents");
    await act("Snapshots, sessions and more", /^All worktrees/);
    const box = drawer("Worktrees");
    await box.locator('[data-worktree="ended-well"]').waitFor();
    await box.getByRole("button", { name: "Clean up" }).click();
    await page.getByText("ended-well: its work ended well", { exact: false }).waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Clean up" }).last().click();
    const names = async () =>
      (await itemsOf<Worktree>(here, "/api/v1/worktrees")).map(({ id }) => id);
    await expect.poll(names).not.toContain("ended-well");
    await box.locator('[data-worktree="ended-well"]').waitFor({ state: "detached" });
    await box.getByRole("button", { name: "Clean up" }).click();
    await box.getByText(/^None has had its time/).waitFor();
  });

  it("G12 bead defer: a bead is put off by days or a date, and no longer so", async () => {
    const id = await makeBead(seeded, "Renew the certificate");
    const deferred = async () =>
      (await read<Bead>(here, `/api/v1/beads/${id}`)).defer?.replace(/\.\d+Z$/, "Z") ?? undefined;
    await go(`/beads/${id}`);
    const panel = page.getByRole("complementary", { name: `Bead ${id}` });
    await panel.getByRole("button", { name: `Do something with ${id}` }).waitFor();
    await act(`Do something with ${id}`, /^Put off/);
    const form = drawer(`Put off ${id}`);
    await form.getByLabel("Until").selectOption({ label: "A date and time" });
    await form.getByLabel("Date and time").fill("2099-01-31T08:00");
    const at = await page.evaluate(() => new Date("2099-01-31T08:00").toISOString());
    const until = at.replace(".000Z", "Z");
    await form.getByText(`godel bead defer ${id} --until ${until}`).waitFor();
    await picture(page, "verbs-defer");
    expect(await barriers(page)).toEqual([]);
    await form.getByRole("button", { name: "Put off", exact: true }).click();
    await form.waitFor({ state: "detached" });
    await panel.getByText(/^Blocked: It is put off until/).waitFor();
    const undo = undoOf(page, /put off until/);
    // Under the pointer the message stays, however long the server takes.
    await undo.hover();
    await expect.poll(deferred).toBe(until);
    await undo.click();
    await expect.poll(deferred).toBeUndefined();

    await act(`Do something with ${id}`, /^Put off/);
    await form.getByRole("button", { name: "Put off", exact: true }).click();
    await expect.poll(async () => Date.parse((await deferred()) ?? "") > Date.now()).toBe(true);
    await act(`Do something with ${id}`, /^No longer put off/);
    await expect.poll(deferred).toBeUndefined();
    await panel.getByText(/^Blocked: It is put off until/).waitFor({ state: "detached" });
  });

  it("G12 remember, memories, forget: what the next one should know, and back by Undo", async () => {
    const known = async () =>
      (await itemsOf<Memory>(here, "/api/v1/memories")).map(({ id, text }) => `${id}: ${text}`);
    await go("/beads");
    await act("Import, export and more", /^What is remembered/);
    const box = drawer("What is remembered");
    await box.getByText(/^Nothing is remembered yet/).waitFor();
    const remember = async (text: string, name: string) => {
      await box.getByLabel("What to know").fill(text);
      await box.getByLabel("Name, if you like").fill(name);
      await box.getByRole("button", { name: "Remember", exact: true }).click();
    };
    await remember("Tests need Redis on port 6380", "redis");
    await expect.poll(known).toEqual(["redis: Tests need Redis on port 6380"]);
    await expect.poll(() => box.getByLabel("What to know").inputValue()).toBe("");
    await remember("make -j4 all", "build-command");
    await expect.poll(async () => (await known()).length).toBe(2);
    const list = box.getByRole("list", { name: "What is remembered" });
    const one = (name: string) => list.locator(`[data-memory="${name}"]`);
    await one("build-command").getByText("make -j4 all").waitFor();
    await picture(page, "verbs-memories");
    expect(await barriers(page)).toEqual([]);

    await box.getByLabel("Look for words").fill("REDIS port");
    await one("build-command").waitFor({ state: "detached" });
    await box.getByText("godel memories REDIS port").waitFor();
    await one("redis").getByRole("button", { name: "Forget redis" }).click();
    await one("redis").waitFor({ state: "detached" });
    const undo = undoOf(page, /redis is forgotten/);
    await undo.hover();
    await expect.poll(known).toEqual(["build-command: make -j4 all"]);
    await undo.click();
    await one("redis").waitFor();
    await expect.poll(async () => (await known()).length).toBe(2);
  });

  it("G17 G18 nothing keeps people out in the dark, and nothing is cut off on a phone", async () => {
    const { page: phone } = await visitor(browser, { viewport: { width: 390, height: 844 } });
    await chooseTheme(phone, "dark");
    await signIn(phone, here, "/settings/tokens");
    await phone.getByRole("grid", { name: "Tokens" }).waitFor();
    await picture(phone, "verbs-tokens-phone");
    expect(await cutOff(phone)).toEqual([]);
    expect(await barriers(phone)).toEqual([]);
    for (const [name, place] of [
      ["token", "/settings/tokens?new=token"],
      ["batch", "/queue?new=batch"],
      ["letters", "/agents?kept=letters"],
      ["worktrees", "/agents?kept=worktrees"],
      ["memories", "/beads?kept=memories"],
    ]) {
      await phone.goto(`${here.url}/dashboard${place}`);
      await phone.getByRole("dialog").waitFor();
      await phone.locator('[data-shows="loading"]').first().waitFor({ state: "detached" });
      await picture(phone, `verbs-${name}-phone`);
      expect(await cutOff(phone), name).toEqual([]);
      expect(await barriers(phone), name).toEqual([]);
    }
    await phone.context().close();
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});

function linesOf<T>(text: string): T[] {
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}
