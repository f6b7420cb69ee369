import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromMenu, undoOf } from "./acts";
import { badge, openBrowser, picture, signIn, visitor, type World } from "./browser";
import { ReviewServer } from "./reviewSeed";

const SETTINGS = `[project]
review = "person"
[gates]
test = "sh check.sh"
[landing]
batch = 4
repair = false
`;

describe("the merge queue", () => {
  let own: ReviewServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  const beads: Record<string, string> = {};

  beforeAll(async () => {
    ({ own, here } = await ReviewServer.start(SETTINGS, { "shared.txt": "one\ntwo\nthree\n" }));
    const work = async (name: string, files: Record<string, string>) => {
      beads[name] = await own.work(`Work ${name}`, { files });
    };
    await work("first", { "own/first.txt": "1\n" });
    await work("broken", { broken: "yes\n" });
    await work("last", { "own/last.txt": "3\n" });
    await work("left side", { "own/left.txt": "l\n" });
    await work("right side", { "own/right.txt": "r\n" });
    await work("mine", { "shared.txt": "one\nmine\nthree\n" });
    await work("yours", { "shared.txt": "one\nyours\nthree\n" });
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser));
    await signIn(page, here, "/landing");
    await badge(page, "Live").waitFor();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await own?.remove();
  });

  const entry = (name: string) => page.locator(`[data-landing="${beads[name]}"]`);
  const stage = (name: string, word: string) =>
    page
      .locator(`[data-landing="${beads[name]}"][data-stage="${word}"]`)
      // Gates run on the server, one after the other.
      .waitFor({ timeout: 60_000 });
  const land = (name: string) => own.godel("land", beads[name] ?? "", "--no-wait");
  const choose = (name: string, verb: RegExp) =>
    fromMenu(page, `Do something with ${beads[name]}`, verb);

  /** Takes back what a message tells of; it comes when the server has answered. */
  const undo = (message: RegExp) => undoOf(page, message).last().click();

  it("G8 an empty queue says why, and how to fill it", async () => {
    await page.getByText("Nothing is to land, and nothing has landed yet.").waitFor();
    await page.getByText("godel land BEAD").waitFor();
    await picture(page, "landing-empty");
  });

  it("X3 a paused queue keeps its order, and says who paused it and why", async () => {
    await own.godel("land", "pause", "--reason", "release today");
    for (const name of ["first", "broken", "last"]) await land(name);
    await entry("last").waitFor();
    await page.getByText("Paused", { exact: true }).waitFor();
    await page.getByText(/release today/).waitFor();
    const shown = await page
      .locator("[data-landing]")
      .evaluateAll((all) => all.map((one) => one.getAttribute("data-landing")));
    expect(shown).toEqual([beads.first, beads.broken, beads.last]);
    await picture(page, "landing-paused");
  });

  it("X3 what waits gets another place by menu, by key, and back by Undo", async () => {
    const shown = () =>
      page
        .locator("[data-landing]")
        .evaluateAll((all) => all.map((one) => one.getAttribute("data-landing")));
    const api = async () => {
      const { items } = await own.json<{ items: { landings: { bead: string }[] }[] }>(
        "land",
        "status",
      );
      return items[0]?.landings.map(({ bead }) => bead);
    };
    const order = async (...names: string[]) => {
      const wanted = names.map((name) => beads[name]);
      await expect.poll(shown).toEqual(wanted);
      await expect.poll(api).toEqual(wanted);
    };
    await choose("last", /^Move to the front/);
    await order("last", "first", "broken");
    await undo(/has another place/);
    await order("first", "broken", "last");
    await page.mouse.move(5, 5);
    for (let at = 0; at < 4; at += 1) {
      if ((await entry("first").getAttribute("data-cursor")) !== null) break;
      await page.keyboard.press("j");
    }
    await page.keyboard.press("Shift+J");
    await order("broken", "first", "last");
    await page.keyboard.press("Shift+K");
    await order("first", "broken", "last");
    await page.getByRole("button", { name: `Do something with ${beads.first}` }).click();
    const up = page.getByRole("menuitem", { name: /^Move up/ });
    expect(await up.getAttribute("aria-disabled")).toBe("true");
    await page.keyboard.press("Escape");
  });

  it("G11 nothing changes places under the pointer", async () => {
    const shown = () =>
      page
        .locator("[data-landing]")
        .evaluateAll((all) => all.map((one) => one.getAttribute("data-landing")));
    const order = (...names: string[]) => names.map((name) => beads[name]);
    // What one has done oneself shows at once, and for a moment more; whoever begins anew did nothing.
    await page.reload();
    await expect.poll(shown).toEqual(order("first", "broken", "last"));
    await entry("broken").hover();
    await own.godel("land", "move", beads.last ?? "", "--first");
    await page.locator("[data-queue][data-held]").waitFor();
    expect(await shown()).toEqual(order("first", "broken", "last"));
    await page.mouse.move(5, 5);
    await expect.poll(shown).toEqual(order("last", "first", "broken"));
    await own.godel("land", "move", beads.last ?? "", "--last");
    await expect.poll(shown).toEqual(order("first", "broken", "last"));
  });

  it("X3 an entry is removed, and put back", async () => {
    await choose("last", /^Remove from the queue/);
    await stage("last", "removed");
    await undo(/is out of the queue/);
    await stage("last", "waiting");
  });

  it("X3 a resumed queue judges together, finds the culprit, and lands the others", async () => {
    await page.getByRole("button", { name: /^Resume/ }).click();
    await page.getByText("Going", { exact: true }).waitFor();
    await stage("first", "landed");
    await stage("last", "landed");
    await stage("broken", "failed");
    await entry("broken").getByText("Breaks a gate").waitFor();
    await entry("broken")
      .getByText(/broken is there/)
      .waitFor();
    await entry("first")
      .getByText(/test passed/)
      .waitFor();
    await picture(page, "landing-culprit");
    await entry("broken").getByRole("link", { name: "Work broken" }).click();
    await page.waitForURL(/\/review\//);
    await page.locator('[data-file="broken"]').waitFor();
    await page.goBack();
    await entry("broken").waitFor();
  });

  it("X3 what failed is tried again by key", async () => {
    await own.push(beads.broken ?? "", { files: { broken: undefined, "own/mended.txt": "2\n" } });
    await page.mouse.move(5, 5);
    for (let at = 0; at < 4; at += 1) {
      if ((await entry("broken").getAttribute("data-cursor")) !== null) break;
      await page.keyboard.press("j");
    }
    await page.keyboard.press("r");
    await stage("broken", "landed");
    await expect.poll(() => own.git("show", "main:own/mended.txt")).toBe("2");
  });

  it("X3 beads that are judged together are framed, with the time that they probably take", async () => {
    await own.godel("land", "pause");
    await land("left side");
    await land("right side");
    await entry("right side")
      .getByText(/lands in about/)
      .waitFor();
    await picture(page, "landing-eta");
    await own.godel("land", "resume");
    await stage("left side", "landed");
    await stage("right side", "landed");
    const batch = page.locator("[data-batch]");
    await batch.getByText("Were judged together: 2").waitFor();
    await expect.poll(() => batch.locator("[data-landing]").count()).toBe(2);
    await picture(page, "landing-batch");
  });

  it("X3 a conflict names its files", async () => {
    await land("mine");
    await stage("mine", "landed");
    await land("yours");
    await stage("yours", "failed");
    await entry("yours").getByText("It conflicts with the branch in shared.txt.").waitFor();
    await picture(page, "landing-conflict");
  });

  it("X3 what has landed is taken back", async () => {
    await choose("first", /^Revert/);
    await page.getByRole("button", { name: `Take back ${beads.first}` }).click();
    await stage("first", "reverted");
    await expect
      .poll(() => own.git("ls-tree", "-r", "--name-only", "main"))
      .not.toContain("own/first.txt");
  });

  it("X3 a person pauses with a reason and resumes by Undo", async () => {
    await page.keyboard.press("p");
    await page.getByLabel("Why, for those who come later").fill("a demo");
    await picture(page, "landing-pause");
    await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
    await page.getByText(/: a demo/).waitFor();
    await page.getByText("Paused", { exact: true }).waitFor();
    await undo(/stands still/);
    await page.getByText("Going", { exact: true }).waitFor();
  });

  it("C10 what a done card brought is taken back by its menu, and the bead is open again", async () => {
    const bead = beads.last ?? "";
    await page.goto(`${here.url}/dashboard/convoys?lanes=none&peek=${bead}`);
    const card = (column: string) => page.locator(`[data-cell="${column}"] [data-card="${bead}"]`);
    await card("done").waitFor();
    await fromMenu(page, `Move ${bead}`, /^Revert/);
    const question = page.getByRole("dialog", { name: `Take back ${bead}?` });
    await question.getByText(/^A commit on main undoes what it brought/).waitFor();
    await picture(page, "card-revert");
    await question.getByRole("button", { name: `Take back ${bead}` }).click();
    // The gates run without it first.
    await card("open").waitFor({ timeout: 60_000 });
    await expect
      .poll(() => own.git("ls-tree", "-r", "--name-only", "main"))
      .not.toContain("own/last.txt");
    await page.getByRole("button", { name: `Do something with ${bead}`, exact: true }).click();
    const again = page.getByRole("menuitem", { name: /^Revert/ });
    await again.getByText(`${bead} is not done.`).waitFor();
    expect(await again.getAttribute("aria-disabled")).toBe("true");
    await page.keyboard.press("Escape");
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
