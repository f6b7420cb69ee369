import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Bead, LandingLine, Review } from "../src/api/types";
import { account, badge, openBrowser, picture, read, visitor, type World } from "./browser";
import { SETTINGS, SeededServer } from "./seed";

const lines = Array.from({ length: 24 }, (_, at) => `line ${at + 1}`);
/** Two places far enough from each other to be two hunks. */
const wanted = lines.with(2, "line three").with(20, "line twenty-one");
/** So often at most the tab key is pressed until something has the focus. */
const MOST_TABS = 80;

describe("by keyboard alone, from the task to the main branch", () => {
  let seeded: SeededServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let bead: string;

  beforeAll(async () => {
    ({ seeded, here } = await SeededServer.bare());
    await seeded.commit({
      "numbers.txt": `${lines.join("\n")}\n`,
      "godel.toml": `${SETTINGS}[project]\nreview = "person"\n`,
    });
    await seeded.introduce();
    ({ id: bead } = await seeded.json<{ id: string }>("bead", "create", "Write numbers as words"));
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser));
  });
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  const press = (...keys: string[]) =>
    keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());

  const hasFocus = (goal: Locator) =>
    goal.evaluateAll((all) => all.some((one) => one === document.activeElement));

  /** Goes from one thing to the next as the tab key does, until it is the one that is meant. */
  async function tabTo(goal: Locator): Promise<void> {
    await goal.waitFor();
    for (let tabs = 0; tabs < MOST_TABS; tabs += 1) {
      if (await hasFocus(goal)) return;
      await press("Tab");
    }
    throw new Error(`the tab key does not lead to ${goal}`);
  }

  it("a person signs in", async () => {
    await page.goto(`${here.url}/dashboard/`);
    await tabTo(page.getByRole("button", { name: "Use an API key instead" }));
    await press("Enter");
    await tabTo(page.getByLabel("API key", { exact: true }));
    await page.keyboard.type(here.key);
    await press("Enter");
    await account(page).waitFor();
    await badge(page, "Live").waitFor();
  });

  it("the first thing that the tab key finds is the way past the navigation", async () => {
    await press("Tab");
    const skip = page.getByRole("link", { name: /^Skip to/ });
    expect(await hasFocus(skip)).toBe(true);
    await press("Enter");
    await expect.poll(() => hasFocus(page.locator("main"))).toBe(true);
  });

  it("an agent is spawned on a bead", async () => {
    await press("g", "a");
    await page.getByText(/^No agent has been started yet/).waitFor();
    await press("c");
    const drawer = page.getByRole("dialog", { name: "Spawn an agent" });
    const task = drawer.getByLabel("Task");
    await expect.poll(() => hasFocus(task)).toBe(true);
    await page.keyboard.insertText(`Words please [[work numbers.txt ${wanted.join("\n")}]]`);
    await tabTo(drawer.getByLabel("Bead", { exact: true }));
    await page.keyboard.type(bead);
    await tabTo(drawer.getByRole("button", { name: "Spawn" }));
    await picture(page, "keyboard-spawn");
    await press("Enter");
    await drawer.waitFor({ state: "detached" });
    await page.locator("[data-agent]").waitFor();
  });

  it("its work comes to the review, and both hunks are accepted", async () => {
    await press("g", "r");
    await page.locator(`[data-review="${bead}"]`).waitFor({ timeout: 60_000 });
    await press("Shift+N");
    const tally = page.locator("[data-tally]");
    await tally.getByText("0 accepted, 0 rejected, 2 undecided").waitFor();
    await press("a", "a");
    await tally.getByText("2 accepted, 0 rejected, 0 undecided").waitFor();
    const decided = async () => (await read<Review>(here, `/api/v1/reviews/${bead}`)).tally;
    // The page shows a decision before the server has it.
    await expect.poll(decided).toEqual({ accepted: 2, rejected: 0, undecided: 0 });
    await picture(page, "keyboard-review");
  });

  it("it is approved, sent to the merge queue, and lands", async () => {
    await press("]");
    await tabTo(page.getByRole("button", { name: "Approve", exact: true }));
    await press("Enter");
    await tabTo(page.getByRole("button", { name: "Send to the merge queue" }));
    await press("Enter");
    await page.getByText(`${bead} is in the merge queue`).waitFor();
    await press("g", "m");
    await page.locator(`[data-landing="${bead}"][data-stage="landed"]`).waitFor();
    await picture(page, "keyboard-landed");
  });

  it("the main branch has the work, and the bead is done", async () => {
    const status = async () => (await read<Bead>(here, `/api/v1/beads/${bead}`)).status;
    await expect.poll(status).toBe("done");
    expect(await seeded.git("show", "main:numbers.txt")).toBe(wanted.join("\n"));
    const { items } = await read<{ items: LandingLine[] }>(here, "/api/v1/landings?past=5");
    const landed = items.flatMap(({ landings }) => landings).find((one) => one.bead === bead);
    expect(await seeded.git("rev-parse", "main")).toBe(landed?.commit);
    expect(problems).toEqual([]);
  });
});
