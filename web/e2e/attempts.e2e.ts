import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Attempts } from "../src/api/types";
import { makeBead, readBead } from "./beadSeed";
import {
  badge,
  barriers,
  chooseTheme,
  openBrowser,
  picture,
  read,
  signIn,
  visitor,
  type World,
} from "./browser";
import { SETTINGS, SeededServer } from "./seed";

const GATES = `[gates]\nno-todo = "! grep -r FORBIDDEN . --include=*.txt"\n`;
/** The first two do it each in its way, the third does what a gate refuses. */
const THREE = `[[shell case $(git var GIT_AUTHOR_IDENT) in attempt-*-1' '*) echo one > out.txt;; attempt-*-2' '*) printf 'two\\nlines\\n' > out.txt; echo more > extra.txt;; *) echo FORBIDDEN > out.txt;; esac; git add -A; git commit -qm work]] [[then]] [[call done {"summary":"tried"}]]`;
const MODELS = ["claude-opus-4-8", "claude-sonnet-5", "claude-haiku-5-5"];

describe("a bead that is tried several ways", () => {
  let seeded: SeededServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let bead: string;
  let other: string;

  beforeAll(async () => {
    ({ seeded, here } = await SeededServer.bare());
    await seeded.commit({ "godel.toml": `${SETTINGS}${GATES}` });
    await seeded.introduce();
    bead = await makeBead(seeded, "Write it three ways", "--description", THREE);
    other = await makeBead(seeded, "Write it again", "--description", THREE);
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser));
    await signIn(page, here, `/beads?peek=${bead}&tab=work`);
    await badge(page, "Live").waitFor();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  const section = () => page.getByRole("region", { name: "Attempts" });
  const attempt = (number: number) => section().locator(`[data-attempt="${number}"]`);
  const dialog = (name: string) => page.getByRole("dialog", { name, exact: true });
  const tried = (id: string) => read<Attempts>(here, `/api/v1/beads/${id}/attempts`);
  const atRest = (id: string) =>
    expect.poll(async () => (await tried(id)).needsChoice, { timeout: 60_000 }).toBe(true);

  async function start(id: string, models: string): Promise<void> {
    await section().getByRole("button", { name: "Try it several ways" }).click();
    const form = dialog(`Try ${id} several ways`);
    await form.getByLabel("With these models, in turn").fill(models);
    await form.getByLabel("All together may cost, in dollars").fill("5");
    await form.getByRole("button", { name: "Let them try" }).click();
    await form.waitFor({ state: "detached" });
  }

  it("G8 says that nobody has tried it so; what makes no sense is refused at its field", async () => {
    await section().getByText("It was not tried several ways yet.").waitFor();
    await section().getByRole("button", { name: "Try it several ways" }).click();
    const form = dialog(`Try ${bead} several ways`);
    await form.getByLabel("How many ways").fill("9");
    await form.getByText("Write a number from 2 to 8.").waitFor();
    await form.getByLabel("How many ways").fill("");
    await form.getByLabel("With these models, in turn").fill("no-such-model, claude-opus-4-8");
    await form
      .getByText(`godel attempt start ${bead} --models no-such-model,claude-opus-4-8`)
      .waitFor();
    await form.getByRole("button", { name: "Let them try" }).click();
    await form
      .getByRole("alert")
      .getByText(/no-such-model/)
      .waitFor();
    await picture(page, "attempts-start");
    expect(await barriers(page)).toEqual([]);
    await form.getByRole("button", { name: "Cancel" }).click();
    await form.getByRole("button", { name: "Discard" }).click();
  });

  it("three models try it at once, and come to rest without a reload", async () => {
    await start(bead, MODELS.join(", "));
    await attempt(3).waitFor();
    const begun = await tried(bead);
    expect(begun.attempts.map(({ model }) => model)).toEqual(MODELS);
    expect(begun.budgetMicros).toBe(5_000_000);
    await atRest(bead);
    await section().getByText("All are at rest: the choice is yours.").waitFor();
    await attempt(1).getByText("gates passed", { exact: true }).waitFor();
    await attempt(2).getByText("+3", { exact: true }).waitFor();
    await attempt(3).getByText("no-todo failed", { exact: true }).waitFor();
    await picture(page, "attempts");
    expect(await barriers(page)).toEqual([]);
  });

  it("they are compared by gates, lines, cost and time, and line by line", async () => {
    await section().getByRole("button", { name: "Compare them" }).click();
    const box = dialog(`The attempts at ${bead}`);
    const table = box.getByRole("table", { name: "The attempts side by side" });
    for (const [index, { model, added }] of (await tried(bead)).attempts.entries()) {
      const row = table.getByRole("row").nth(index + 1);
      await row.getByText(model ?? "", { exact: true }).waitFor();
      await row.getByText(`+${added}`, { exact: true }).waitFor();
      await row.getByText(/^\$0\.\d+/).waitFor();
    }
    const file = (path: string) => box.getByRole("region", { name: path, exact: true });
    await file("out.txt").getByText("one", { exact: true }).waitFor();
    await box.getByLabel("Compared with").selectOption("2");
    await box.getByText(`godel attempt diff ${bead} 1 2`).waitFor();
    await file("extra.txt").getByText("more", { exact: true }).waitFor();
    await file("out.txt").getByText("two", { exact: true }).waitFor();
    const removed = file("out.txt").getByRole("row").filter({ hasText: "one" });
    expect(await removed.innerText()).toContain("−");
    expect(new URL(page.url()).searchParams.get("attempt")).toBe("1-2");
    await picture(page, "attempts-compare");
    expect(await barriers(page)).toEqual([]);
  });

  it("one is picked: it goes to review, and the others are put away", async () => {
    const box = dialog(`The attempts at ${bead}`);
    await box.getByRole("button", { name: "Pick attempt 2", exact: true }).click();
    const asked = dialog("Pick attempt 2?");
    await asked.getByText(`godel attempt pick ${bead} 2`, { exact: true }).waitFor();
    await asked.getByRole("button", { name: "Pick it", exact: true }).click();
    await box.waitFor({ state: "detached" });
    await expect.poll(async () => (await readBead(seeded, bead)).status).toBe("review");
    await expect.poll(async () => (await tried(bead)).state).toBe("picked");
    const picked = (await tried(bead)).attempts[1];
    expect(await seeded.git("rev-parse", `bead/${bead}`)).toBe(picked?.commit);
    await section().getByText("Attempt 2 was picked.").waitFor();
    await attempt(2).getByText("Picked", { exact: true }).waitFor();
    const again = section().getByRole("button", { name: "Try it several ways" });
    await expect.poll(() => again.getAttribute("aria-disabled")).toBe("true");
  });

  it("all are dropped, and the bead is open again", async () => {
    await page.goto(`${here.url}/dashboard/beads?peek=${other}&tab=work`);
    await section().getByText("It was not tried several ways yet.").waitFor();
    await start(other, MODELS.slice(0, 2).join(","));
    await atRest(other);
    await section().getByRole("button", { name: "Drop all" }).click();
    const asked = dialog("Drop all 2 attempts?");
    await asked.getByRole("button", { name: "Drop them" }).click();
    await expect.poll(async () => (await tried(other)).state).toBe("dropped");
    await expect.poll(async () => (await readBead(seeded, other)).status).toBe("open");
    await section().getByText("All of them were put away.").waitFor();
  });

  it("G17 the same in the dark", async () => {
    const { page: dark } = await visitor(browser);
    await chooseTheme(dark, "dark");
    await signIn(dark, here, `/beads?peek=${bead}&tab=work&attempt=2`);
    const box = dark.getByRole("dialog", { name: `The attempts at ${bead}` });
    await box.getByRole("region", { name: "extra.txt" }).waitFor();
    await picture(dark, "attempts-dark");
    expect(await barriers(dark)).toEqual([]);
    await dark.context().close();
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
