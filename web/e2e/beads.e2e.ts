import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fileOf, fromMenu } from "./acts";
import { makeBead, readBead, until } from "./beadSeed";
import {
  badge,
  barriers,
  openBrowser,
  picture,
  signIn,
  visitor,
  type World,
  world,
} from "./browser";
import { type Seed, SeededServer } from "./seed";

const TEXT = `## Why
The form is **slow** on \`Safari\`, see https://example.org/report

- [ ] measure it
- [x] find the cause

<img src=x onerror="window.broken = true"> [bad](javascript:alert)`;

const openExchange = (page: Page, line: RegExp) => fromMenu(page, "Import, export and more", line);

/** What the page gives as a file. */
async function exportOf(page: Page): Promise<string> {
  const { name, text } = await fileOf(page, () => openExchange(page, /^Export/));
  expect(name).toBe("beads.jsonl");
  return text;
}

describe("the beads", () => {
  let seeded: SeededServer;
  let seed: Seed;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let epic: string;
  let part: string;

  beforeAll(async () => {
    ({ seeded, seed, here } = await SeededServer.start());
    epic = await makeBead(seeded, "Make it fast", "--type", "epic", "--priority", "critical");
    part = await makeBead(
      seeded,
      "Make login fast",
      "--parent",
      epic,
      "--label",
      "speed",
      "--description",
      TEXT,
    );
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser, { viewport: { width: 1440, height: 900 } }));
    await signIn(page, here, "/beads");
    await badge(page, "Live").waitFor();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  const row = (id: string) => page.locator(`[data-row="${id}"]`);
  const ids = () =>
    page.locator("[data-row]").evaluateAll((all) => all.map((one) => one.getAttribute("data-row")));
  const box = () => page.getByRole("combobox", { name: "Ask for beads" });
  const ask = async (query: string, count: number) => {
    await box().fill(query);
    await box().press("Enter");
    await page.getByText(`${count} bead${count === 1 ? "" : "s"}`, { exact: true }).waitFor();
  };
  const away = () => page.mouse.move(5, 5);

  it("B1 all beads are rows: the urgent first, sorted and grouped as asked, kept by a reload", async () => {
    const [first = ""] = seed.beads;
    await row(epic).waitFor();
    await expect.poll(async () => (await ids()).slice(0, 2)).toEqual([epic, first]);
    await expect.poll(ids).toHaveLength(9);
    await picture(page, "beads");
    await page.getByRole("button", { name: "Title", exact: true }).click();
    await expect.poll(async () => (await ids())[0]).toBe(seed.beads[1]);
    await page.getByLabel("Groups").selectOption("status");
    await page.getByRole("button", { name: "Done 1" }).click();
    await row(seed.landed).waitFor({ state: "detached" });
    await page.reload();
    await page.getByRole("button", { name: "Done 1" }).waitFor();
    await expect.poll(ids).toHaveLength(8);
    expect(page.url()).toContain("group=status");
    expect(page.url()).toContain("sort=title");
    await picture(page, "beads-groups");
    await page.getByRole("button", { name: "Done 1" }).click();
    await page.getByLabel("Groups").selectOption("");
    await page.getByRole("button", { name: "Title", exact: true }).click();
    await page.getByRole("button", { name: "Title", exact: true }).click();
  });

  it("B1 columns are chosen, and views have names", async () => {
    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("menuitemradio", { name: "Labels" }).click();
    await page.getByRole("columnheader", { name: "Labels" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("menuitemradio", { name: "Labels" }).click();
    await page.getByRole("columnheader", { name: "Labels" }).waitFor();
    await page.getByRole("button", { name: "Views" }).click();
    await page.getByRole("menuitemradio", { name: "Blocked" }).click();
    await page.getByText("1 bead", { exact: true }).waitFor();
    await expect.poll(ids).toEqual([seed.beads[2]]);
    await ask("", 9);
  });

  it("B1 a view is kept on the server: found elsewhere, changed, shared, forgotten and back", async () => {
    const views = (name: string | RegExp) => page.getByRole("button", { name });
    const kept = () =>
      seeded.json<{ items: { name: string; query: string; shared: boolean }[] }>("view", "list");
    await ask("label:speed", 1);
    await views("Views").click();
    await page.getByRole("menuitem", { name: /^Save this view…/ }).click();
    await page.getByLabel("Name", { exact: true }).fill("Fast");
    await page.getByText("godel view save Fast label:speed").waitFor();
    await picture(page, "beads-view-save");
    expect(await barriers(page)).toEqual([]);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await views("Views: Fast").waitFor();
    await ask("", 9);
    await views("Views: Fast (changed)").waitFor();
    // What is kept by a command is in the menu of every browser, at once.
    await seeded.godel("view", "save", "Blocked ones", "blocked:yes", "--shared");
    const { page: other } = await visitor(browser);
    await signIn(other, here, "/beads");
    await other.getByRole("button", { name: "Views" }).click();
    await other.getByRole("menuitemradio", { name: "Blocked ones" }).waitFor();
    await other.getByRole("menuitemradio", { name: "Fast" }).click();
    await other.getByText("1 bead", { exact: true }).waitFor();
    await other.keyboard.press("Control+k");
    await other.keyboard.type("Blocked ones");
    await other.getByRole("option", { name: /Blocked ones/ }).waitFor();
    await picture(other, "beads-view-palette");
    await other.keyboard.press("Enter");
    await other.getByRole("button", { name: "Views: Blocked ones" }).waitFor();
    await other.context().close();
    await ask("status:open", 5);
    await views("Views: Fast (changed)").click();
    await page.getByRole("menuitemradio", { name: "Blocked ones" }).waitFor();
    await picture(page, "beads-views");
    expect(await barriers(page)).toEqual([]);
    await page.getByRole("menuitem", { name: /^Update “Fast”/ }).click();
    await until(async () => (await kept()).items.some(({ query }) => query === "q=status%3Aopen"));
    await views("Views: Fast").click();
    await page.getByRole("menuitem", { name: "Rename or share…" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Blocked ones");
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByText(/^You have a view "Blocked ones" of this page already/).waitFor();
    await page.getByLabel("Name", { exact: true }).fill("Open ones");
    await page.getByLabel("Share with everybody").check();
    await page.getByRole("button", { name: "Rename" }).click();
    await views("Views: Open ones").click();
    await page.getByRole("menuitem", { name: /^Forget “Open ones”/ }).click();
    await until(async () => (await kept()).items.length === 1);
    await page.getByRole("button", { name: "Undo" }).last().click();
    await until(async () => {
      const { items } = await kept();
      return items.some(({ name, shared }) => name === "Open ones" && shared);
    });
    await ask("", 9);
    await page.goto(`${here.url}/dashboard/beads`);
    await expect.poll(ids).toHaveLength(9);
  });

  it("B1 a cell is changed in place, and what is refused goes back", async () => {
    const [first = ""] = seed.beads;
    await row(first)
      .getByRole("button", { name: /^Priority of/ })
      .click();
    await page.getByRole("menuitemradio", { name: /^Low/ }).click();
    await row(first).getByText("Low").waitFor();
    const undo = page.getByRole("button", { name: "Undo" }).first();
    // Under the pointer the message stays, however long a command takes.
    await undo.hover();
    await until(async () => (await readBead(seeded, first)).priority === "low");
    await undo.click();
    await row(first).getByText("High").waitFor();
    await away();
    await page.locator(`[data-title="${first}"]`).dblclick();
    await page.getByRole("textbox", { name: "Title" }).fill("Fix the login form now");
    await page.keyboard.press("Enter");
    await until(async () => (await readBead(seeded, first)).title === "Fix the login form now");
    await page.keyboard.press("Escape");
    await row(first)
      .getByRole("button", { name: /^Status of/ })
      .click();
    await page.getByRole("menuitemradio", { name: /^Review/ }).click();
    const alert = page.getByRole("alert").filter({ hasText: "cannot move to review" });
    await alert.waitFor();
    await row(first).getByText("Open", { exact: true }).waitFor();
    await alert.getByRole("button", { name: "Dismiss the message" }).click();
  });

  it("B1 many are changed at once", async () => {
    const [, second = "", third = ""] = seed.beads;
    for (const id of [second, third]) await row(id).getByRole("checkbox").check();
    await page.getByText("2 beads selected").waitFor();
    await picture(page, "beads-bulk");
    await page.getByRole("button", { name: "Set their priority" }).click();
    await page.getByRole("menuitemradio", { name: /^High/ }).click();
    for (const id of [second, third]) {
      await until(async () => (await readBead(seeded, id)).priority === "high");
    }
    await page
      .getByRole("region", { name: "Selection" })
      .getByRole("button", { name: "Clear" })
      .click();
  });

  it("B2 a query finds, completes words and says under the word what is wrong", async () => {
    await box().click();
    await page.keyboard.type("sta");
    await page.getByRole("option", { name: /^status:/ }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.type("o");
    await page.getByRole("option", { name: "status:open" }).waitFor();
    // A word that is not finished is no mistake.
    expect(await box().getAttribute("aria-invalid")).toBe(null);
    await picture(page, "beads-complete");
    await page.keyboard.press("Tab");
    await expect.poll(() => box().inputValue()).toBe("status:open ");
    await page.keyboard.type("agent:none blocked:no updated:<2d priority:high");
    await page.keyboard.press("Enter");
    await page.getByText("2 beads", { exact: true }).waitFor();
    await expect
      .poll(async () => (await ids()).toSorted())
      .toEqual([seed.beads[0], seed.beads[1]].toSorted());
    expect(page.url()).toContain("q=status");
    await box().fill("status:opne");
    await page.keyboard.press("Enter");
    await page.getByText(/^status is open, in-progress, review or done/).waitFor();
    await box().fill("label:speed stauts:open");
    await page.getByText("There is no field stauts. Did you mean status?").waitFor();
    await page.keyboard.press("Enter");
    await picture(page, "beads-error");
    await expect.poll(ids).toEqual([part]);
    await ask("login", 2);
    await ask("nothing-like-this", 0);
    await page.getByText("No beads match the filter.").waitFor();
    await page.getByRole("button", { name: "Clear the filter" }).click();
    await page.getByText("9 beads", { exact: true }).waitFor();
  });

  it("B3 a tree shows parts and dependencies, and why each is ready or blocked", async () => {
    const [, second = "", third = ""] = seed.beads;
    await page.getByRole("button", { name: "Tree" }).click();
    await row(`${epic}/${part}`).waitFor();
    await row(epic).getByText("Ready: it waits on nothing, and nobody holds it.").waitFor();
    await picture(page, "beads-tree");
    await page.getByRole("button", { name: "Close Make it fast" }).click();
    await row(`${epic}/${part}`).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Waits on" }).click();
    await row(`${third}/${second}`).waitFor();
    await row(third).getByText("Blocked: It waits on Add a page for costs.").waitFor();
  });

  it("B3 a circle of dependencies is refused by the server", async () => {
    const [, second = "", third = ""] = seed.beads;
    await row(`${third}/${second}`).click();
    const panel = page.getByRole("complementary", { name: `Bead ${second}` });
    await panel.getByRole("tab", { name: /Links/ }).click();
    await panel
      .getByRole("region", { name: "Those that wait on it" })
      .getByText("Write the release notes")
      .waitFor();
    await panel.getByLabel("The other bead").fill(third);
    await panel.getByRole("button", { name: "Link", exact: true }).click();
    const alert = page.getByRole("alert").filter({ hasText: `Link ${second} to ${third}` });
    await alert.getByText(/would make a circle/).waitFor();
    await picture(page, "beads-circle");
    await alert.getByRole("button", { name: "Dismiss the message" }).click();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Table" }).click();
  });

  it("B4 the panel draws markdown safely and ticks its boxes", async () => {
    await row(part).getByText("Make login fast").click();
    const panel = page.getByRole("complementary", { name: `Bead ${part}` });
    await panel.getByRole("tab", { name: "About" }).click();
    await panel.getByText("1 of 2 ticked").waitFor();
    await panel.locator("strong", { hasText: "slow" }).waitFor();
    await expect
      .poll(() => panel.getByRole("link", { name: /report/ }).getAttribute("href"))
      .toBe("https://example.org/report");
    await expect.poll(() => panel.locator("img").count()).toBe(0);
    await expect.poll(() => panel.getByRole("link", { name: "bad" }).count()).toBe(0);
    await picture(page, "beads-panel");
    // It is ticked when the change has gone through the store, which is a moment after the click.
    await panel.getByRole("checkbox", { name: "measure it" }).click();
    await panel.getByText("2 of 2 ticked").waitFor();
    await until(async () => (await seeded.godel("bead", "show", part)).includes("[x] measure it"));
    expect(await page.evaluate(() => "broken" in window)).toBe(false);
  });

  it("B4 the panel keeps what was said and what happened", async () => {
    const panel = page.getByRole("complementary", { name: `Bead ${part}` });
    await panel.getByRole("tab", { name: /Activity/ }).click();
    await panel.getByLabel("Write a comment").fill("It is **much** faster");
    await panel.getByRole("button", { name: "Comment", exact: true }).click();
    await panel.locator("article strong", { hasText: "much" }).waitFor();
    await panel
      .getByRole("region", { name: "What happened" })
      .getByText(/commented|comment/i)
      .first()
      .waitFor();
    await seeded.godel("bead", "comment", part, "From the command line");
    await panel.getByText("From the command line", { exact: true }).waitFor();
    await picture(page, "beads-activity");
    await page.keyboard.press("Escape");
  });

  it("B4 the panel shows commits, the agent and the session of finished work", async () => {
    await page.goto(`${here.url}/dashboard/beads/${seed.inReview.bead}?tab=work`);
    const panel = page.getByRole("complementary", { name: `Bead ${seed.inReview.bead}` });
    await panel.getByRole("region", { name: "Commits" }).getByText("not landed").first().waitFor();
    await panel.getByRole("region", { name: "Agents" }).getByText(seed.inReview.agent).waitFor();
    await panel
      .getByRole("region", { name: "Sessions" })
      .getByText(new RegExp(`^${seed.inReview.agent}, `))
      .waitFor();
    await picture(page, "beads-work");
    await page.getByRole("button", { name: "Close the panel" }).click();
    await panel.waitFor({ state: "detached" });
    expect(new URL(page.url()).pathname).toBe("/dashboard/beads");
  });

  it("D4 an agent is spawned on the bead that is looked at, unless it is done", async () => {
    const panel = page.getByRole("complementary", { name: /^Bead / });
    const button = panel.getByRole("button", { name: "Spawn an agent on it" });
    await page.goto(`${here.url}/dashboard/beads/${seed.landed}?tab=work`);
    await expect.poll(() => button.getAttribute("aria-disabled")).toBe("true");
    await page.goto(`${here.url}/dashboard/beads/${part}?tab=work`);
    await button.click();
    const drawer = page.getByRole("dialog", { name: "Spawn an agent" });
    await expect.poll(() => drawer.getByLabel("Bead").inputValue()).toBe(part);
    await drawer.getByText(`--bead ${part}`).waitFor();
    await page.keyboard.press("Escape");
    await page.goto(`${here.url}/dashboard/beads`);
  });

  it("B4 a file is shown before it is taken, and goes out byte for byte as it came", async () => {
    const other = await SeededServer.bare();
    try {
      await other.seeded.godel("project", "create", "copy", "--repository", ".");
      const exported = await exportOf(page);
      const lines = exported.trim().split("\n");
      expect(lines).toHaveLength(9);
      const { page: own } = await visitor(browser);
      await signIn(own, other.here, "/beads");
      const drawer = own.getByRole("dialog", { name: "Import beads" });
      const give = async (text: string) => {
        const file = { name: "beads.jsonl", mimeType: "", buffer: Buffer.from(text) };
        await drawer.getByLabel(/^A file of beads/).setInputFiles(file);
      };
      await openExchange(own, /^Import…/);
      await give(`${exported}{"id":"bd-3"}\n`);
      await drawer
        .getByRole("alert")
        .getByText(/line 10/i)
        .waitFor();
      expect(await drawer.getByRole("button", { name: "Import" }).isDisabled()).toBe(true);
      await give(exported);
      await drawer.getByText("9 new, 0 changed, 0 as they are").waitFor();
      await expect.poll(() => drawer.locator("[data-change=new]").count()).toBe(9);
      await drawer.getByText("godel import beads beads.jsonl").waitFor();
      await picture(own, "beads-import");
      expect(await barriers(own)).toEqual([]);
      // The dry run changed nothing.
      expect(await other.seeded.json<{ items: unknown[] }>("bead", "list")).toMatchObject({
        items: [],
      });
      await drawer.getByRole("button", { name: "Import 9 beads" }).click();
      await drawer.waitFor({ state: "detached" });
      await own.getByText("9 beads", { exact: true }).waitFor();
      expect(await exportOf(own)).toBe(exported);
      await openExchange(own, /^Import…/);
      await give(exported.replace("Make it fast", "Make it faster"));
      await drawer.getByText("0 new, 1 changed, 8 as they are").waitFor();
      await drawer
        .locator("[data-change=changed]")
        .getByText("title: Make it fast → Make it faster", { exact: true })
        .waitFor();
      await picture(own, "beads-import-changed");
      await own.context().close();
    } finally {
      await other.seeded.remove();
    }
  });

  it("G11 while somebody is in the list nothing moves, and what is new waits", async () => {
    await page.goto(`${here.url}/dashboard/beads`);
    await row(epic).hover();
    const before = await ids();
    const last = before.at(-1) ?? "";
    const first = await makeBead(seeded, "Put out the fire", "--priority", "critical");
    await fetch(`${here.url}/api/v1/beads/${last}`, {
      method: "PATCH",
      headers: { "X-API-Key": here.key, "Content-Type": "application/json" },
      body: JSON.stringify({ priority: "critical" }),
    });
    const fresh = page.getByRole("button", { name: "1 new bead" });
    await fresh.waitFor();
    // What a row says is up to date, where it stands is not.
    await row(last).getByText("Critical").waitFor();
    expect(await ids()).toEqual(before);
    await picture(page, "beads-calm");
    await fresh.click();
    await row(first).waitFor();
    await expect.poll(async () => (await ids()).indexOf(last)).toBeLessThan(before.length - 1);
  });

  it("G8 without any bead the page says why, and what to do", async () => {
    const { page: own } = await visitor(browser);
    await signIn(own, world(), "/beads");
    await own.getByText(/^There are no beads yet\./).waitFor();
    await own.getByText('godel bead create "Fix the login form"').waitFor();
    await picture(own, "beads-empty");
    await own.context().close();
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
