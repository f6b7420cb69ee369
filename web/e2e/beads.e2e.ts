import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeBead, readBead, until } from "./beadSeed";
import {
  badge,
  barriers,
  chooseTheme,
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
    await box().fill("label:speed");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Views" }).click();
    await page.getByRole("menuitem", { name: "Remember this view" }).click();
    await page.getByRole("button", { name: "Views" }).click();
    await page.getByRole("menuitemradio", { name: "Everything" }).click();
    await page.getByText("9 beads", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Views" }).click();
    await page.getByRole("menuitemradio", { name: "label:speed" }).click();
    await page.getByText("1 bead", { exact: true }).waitFor();
    await ask("", 9);
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
    await alert.waitFor();
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
    await panel.getByRole("checkbox", { name: "measure it" }).check();
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

  it("G18 nothing keeps people out of the beads, in either theme, and it fits 390 px", async () => {
    for (const theme of ["light", "dark"] as const) {
      const { page: own } = await visitor(browser, { viewport: { width: 1440, height: 900 } });
      await chooseTheme(own, theme);
      await signIn(own, here, `/beads?peek=${part}`);
      await own.locator("[data-row]").first().waitFor();
      await own.getByRole("complementary").getByRole("tab", { name: "About" }).waitFor();
      await picture(own, `beads-${theme}`);
      expect(await barriers(own), theme).toEqual([]);
      await own.setViewportSize({ width: 390, height: 800 });
      await own.getByRole("button", { name: "Close the panel" }).click();
      await picture(own, `beads-narrow-${theme}`);
      const width = await own.evaluate(() => document.documentElement.scrollWidth);
      expect(width).toBeLessThanOrEqual(390);
      await own.context().close();
    }
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
