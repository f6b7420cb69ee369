import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Bead } from "../src/api/types";
import { undoOf } from "./acts";
import { makeBead, until } from "./beadSeed";
import {
  badge,
  barriers,
  eachTheme,
  openBrowser,
  picture,
  read,
  signIn,
  visitor,
  type World,
} from "./browser";
import { SeededServer } from "./seed";

describe("what a bead says", () => {
  let seeded: SeededServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let first: string;
  let second: string;
  let epic: string;

  beforeAll(async () => {
    ({ seeded, here } = await SeededServer.bare());
    await seeded.introduce();
    first = await makeBead(seeded, "Fix the login form", "--label", "auth");
    second = await makeBead(seeded, "Write the guide", "--label", "docs", "--label", "auth");
    epic = await makeBead(seeded, "Release it", "--type", "epic");
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
  const bead = (id: string) => read<Bead>(here, `/api/v1/beads/${id}`);
  const isGone = async (id: string) => {
    const headers = { "X-API-Key": here.key };
    return (await fetch(`${here.url}/api/v1/beads/${id}`, { headers })).status === 404;
  };
  const panelOf = (id: string) => page.getByRole("complementary", { name: `Bead ${id}` });
  const facts = () => panelOf(first).getByRole("region", { name: "Facts" });
  const undo = (title: RegExp) => undoOf(page, title);
  const setFact = async (name: string, text: string) => {
    await facts()
      .getByRole("button", { name: `Edit: ${name}` })
      .click();
    await facts().getByLabel(name, { exact: true }).fill(text);
    await page.keyboard.press("Enter");
  };

  it("B4 labels are chips: added, taken off, and back by Undo", async () => {
    await page.goto(`${here.url}/dashboard/beads/${first}`);
    const labels = panelOf(first).getByRole("region", { name: "Labels" });
    await labels.locator("[data-label=auth]").waitFor();
    await labels.getByLabel("Add a label").fill("urgent");
    await page.keyboard.press("Enter");
    await labels.locator("[data-label=urgent]").waitFor();
    await expect.poll(async () => (await bead(first)).labels).toEqual(["auth", "urgent"]);
    await labels.getByRole("button", { name: "Remove the label auth" }).click();
    await labels.locator("[data-label=auth]").waitFor({ state: "detached" });
    const back = undo(/^Change the labels/).last();
    // Under the pointer the message stays, however long the server takes.
    await back.hover();
    await expect.poll(async () => (await bead(first)).labels).toEqual(["urgent"]);
    await back.click();
    await labels.locator("[data-label=auth]").waitFor();
    await expect
      .poll(async () => (await bead(first)).labels.toSorted())
      .toEqual(["auth", "urgent"]);
  });

  it("B4 estimate, budget and parent are changed in place; what makes no sense is said there", async () => {
    await setFact("Estimate", "soon");
    await facts().getByText("Write a time such as 90m, 2h or 3d.").waitFor();
    await facts().getByLabel("Estimate", { exact: true }).fill("1h 30m");
    await page.keyboard.press("Enter");
    await facts().getByText("1h 30m").waitFor();
    await expect.poll(async () => (await bead(first)).estimate).toBe(90);
    await setFact("Budget", "2.50");
    await facts().getByText("$2.50", { exact: true }).waitFor();
    await expect.poll(async () => (await bead(first)).budget).toBe(2_500_000);
    await setFact("Part of", epic);
    await facts().getByText(`${epic} Release it`).waitFor();
    await expect.poll(async () => (await bead(first)).parentBead).toBe(epic);
    await picture(page, "bead-facts");
    // A bead that there is not is refused, and the page goes back to what is true.
    await setFact("Part of", "app-zzzzz");
    const alert = page.getByRole("alert").filter({ hasText: "Not done: Change the part of" });
    await alert.waitFor();
    await facts().getByText(`${epic} Release it`).waitFor();
    await alert.getByRole("button", { name: "Dismiss the message" }).click();
    await setFact("Part of", "");
    await expect.poll(async () => (await bead(first)).parentBead ?? null).toBe(null);
    await setFact("Estimate", "");
    await expect.poll(async () => (await bead(first)).estimate ?? null).toBe(null);
    // Escape keeps what was there.
    await facts().getByRole("button", { name: "Edit: Budget" }).click();
    await facts().getByLabel("Budget", { exact: true }).fill("9");
    await page.keyboard.press("Escape");
    await facts().getByText("$2.50", { exact: true }).waitFor();
    expect((await bead(first)).budget).toBe(2_500_000);
  });

  it("B4 metadata is kept, changed and taken away", async () => {
    const kept = panelOf(first).getByRole("region", { name: "Metadata" });
    await kept.getByRole("button", { name: "Keep something with it" }).click();
    await kept.getByLabel("Name of what is kept").fill("ticket");
    await kept.getByLabel("Its value").fill("417");
    await kept.getByRole("button", { name: "Keep", exact: true }).click();
    await expect.poll(async () => (await bead(first)).metadata).toEqual({ ticket: "417" });
    await kept.getByRole("button", { name: "Edit: ticket" }).click();
    await kept.getByLabel("ticket", { exact: true }).fill("418");
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await bead(first)).metadata).toEqual({ ticket: "418" });
    expect(await barriers(page)).toEqual([]);
    await picture(page, "bead-metadata");
    await kept.getByRole("button", { name: "Remove ticket" }).click();
    await expect.poll(async () => (await bead(first)).metadata).toEqual({});
  });

  it("B4 a bead is claimed here and given back here; what another one holds is taken by force", async () => {
    const menu = () => panelOf(first).getByRole("button", { name: `Do something with ${first}` });
    await menu().click();
    await picture(page, "bead-menu");
    await page.getByRole("menuitem", { name: /^Claim for 30 minutes/ }).click();
    await facts().getByText("Held until").waitFor();
    await expect.poll(async () => (await bead(first)).lease != null).toBe(true);
    await expect.poll(async () => (await bead(first)).status).toBe("in-progress");
    // What proves the claim is kept by the page: another one could not give it back so.
    await panelOf(first)
      .getByRole("button", { name: /^Agent: / })
      .click();
    await page.getByRole("menuitemradio", { name: /^Nobody/ }).click();
    await expect.poll(async () => (await bead(first)).lease ?? null).toBe(null);
    await expect.poll(async () => (await bead(first)).status).toBe("open");
    await seeded.godel("bead", "claim", first, "--agent", "ann");
    await facts().getByText("Held until").waitFor();
    await menu().click();
    await page.getByRole("menuitem", { name: /^Take it back from ann/ }).click();
    const question = page.getByRole("dialog", { name: `Take ${first} from ann?` });
    await question.getByText(`godel bead release ${first} --force`).waitFor();
    await question.getByRole("button", { name: "Take it back" }).click();
    await expect.poll(async () => (await bead(first)).agent ?? null).toBe(null);
    await facts().getByText("Held until").waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
  });

  it("B1 the bar sets labels, closes with a sentence and deletes after a question", async () => {
    await page.goto(`${here.url}/dashboard/beads`);
    const bar = page.getByRole("region", { name: "Selection" });
    for (const id of [first, second]) await row(id).getByRole("checkbox").check();
    await bar.getByRole("button", { name: "Labels" }).click();
    const labels = page.getByRole("dialog", { name: "Labels of 2 beads" });
    await labels.getByLabel("Add a label").fill("now");
    await page.keyboard.press("Enter");
    for (const id of [first, second]) {
      await expect.poll(async () => (await bead(id)).labels).toContain("now");
    }
    await picture(page, "beads-bulk-labels");
    expect(await barriers(page)).toEqual([]);
    await labels.getByRole("button", { name: "Remove the label auth from all" }).click();
    await expect.poll(async () => (await bead(second)).labels.toSorted()).toEqual(["docs", "now"]);
    await labels.getByRole("button", { name: "Done", exact: true }).click();
    await bar.getByRole("button", { name: "Close", exact: true }).click();
    const closing = page.getByRole("dialog", { name: "Close 2 beads" });
    const act = closing.getByRole("button", { name: "Close them" });
    await expect.poll(() => act.getAttribute("aria-disabled")).toBe("true");
    await closing.getByLabel("As").selectOption("wont-do");
    await closing.getByLabel("Why").fill("Nobody needs it");
    await picture(page, "beads-bulk-close");
    await act.click();
    for (const id of [first, second]) {
      await expect.poll(async () => (await bead(id)).resolution).toMatchObject({ kind: "wont-do" });
    }
    await undo(/^2 beads moved to Done/).click();
    for (const id of [first, second]) {
      await expect.poll(async () => (await bead(id)).status).toBe("open");
    }
    await row(second).getByRole("checkbox").check();
    await bar.getByRole("button", { name: "Delete" }).click();
    const question = page.getByRole("dialog", { name: `Delete ${second}?` });
    await question.getByText(`godel bead delete ${second} --yes`).waitFor();
    await picture(page, "beads-delete");
    await question.getByRole("button", { name: "Cancel" }).click();
    expect(await isGone(second)).toBe(false);
    await bar.getByRole("button", { name: "Delete" }).click();
    await question.getByRole("button", { name: "Delete the bead" }).click();
    await row(second).waitFor({ state: "detached" });
    await until(() => isGone(second));
  });

  it("B4 the panel deletes its bead and goes with it", async () => {
    const gone = await makeBead(seeded, "A mistake");
    await page.goto(`${here.url}/dashboard/beads/${gone}`);
    await panelOf(gone)
      .getByRole("button", { name: `Do something with ${gone}` })
      .click();
    await page.getByRole("menuitem", { name: /^Delete…/ }).click();
    await page.getByRole("button", { name: "Delete the bead" }).click();
    await panelOf(gone).waitFor({ state: "detached" });
    await until(() => isGone(gone));
    await row(gone).waitFor({ state: "detached" });
  });

  it("B1 a new bead says all that it needs at once", async () => {
    await page.goto(`${here.url}/dashboard/beads`);
    await row(first).waitFor();
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog", { name: "New bead" });
    await dialog.getByLabel("What is to be done").fill("Say hello");
    await dialog.getByRole("button", { name: "More" }).click();
    await dialog.getByLabel("Done when").fill("It says hello");
    await dialog.getByLabel("Labels").fill("greeting, small");
    await dialog.getByLabel("Waits on").fill("app-zzzzz");
    await dialog.getByRole("alert").getByText("There is no bead app-zzzzz.").waitFor();
    const create = dialog.getByRole("button", { name: "Create" });
    expect(await create.getAttribute("aria-disabled")).toBe("true");
    await dialog.getByLabel("Waits on").fill(first);
    await dialog.getByLabel("Part of").fill(epic);
    await dialog.getByLabel("Estimate").fill("2h");
    await dialog.getByLabel("Budget in dollars").fill("1.25");
    // What was written survives a reload.
    await page.reload();
    await row(first).waitFor();
    await page.keyboard.press("c");
    await dialog.getByRole("button", { name: "More" }).click();
    await dialog
      .getByText(
        `godel bead create 'Say hello' --type task --priority medium --acceptance 'It says hello' --label greeting --label small --parent ${epic} --blocked-by ${first} --estimate 2h --budget 1.25`,
      )
      .waitFor();
    await picture(page, "bead-new");
    expect(await barriers(page)).toEqual([]);
    await create.click();
    const found = async () => {
      const { items } = await read<{ items: Bead[] }>(here, "/api/v1/beads?limit=100");
      return items.find(({ title }) => title === "Say hello");
    };
    await expect.poll(found).toMatchObject({
      acceptance: "It says hello",
      labels: ["greeting", "small"],
      parentBead: epic,
      estimate: 120,
      budget: 1_250_000,
    });
    expect((await found())?.links).toContainEqual(
      expect.objectContaining({ type: "blocks", target: first }),
    );
  });

  it("G17 the panel looks right in both themes", async () => {
    await eachTheme(browser, here, `/beads/${first}`, async (own, theme) => {
      await own.getByRole("region", { name: "Metadata" }).waitFor();
      await own.getByRole("region", { name: "Metadata" }).scrollIntoViewIfNeeded();
      await picture(own, `bead-panel-${theme}`);
      expect(await barriers(own)).toEqual([]);
    });
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
