import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBrowser, picture, signIn, visitor, type World } from "./browser";
import { GREETER, ReviewServer } from "./reviewSeed";

/** What the server keeps of a review. */
interface Kept {
  decisions: { lines?: object; verdict: string }[];
  tally: object;
}

describe("lines of a review", () => {
  let own: ReviewServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let bead: string;

  beforeAll(async () => {
    ({ own, here } = await ReviewServer.start(`[project]\nreview = "person"\n`, {
      "src/greet.ts": GREETER,
    }));
    const polite = GREETER.replace('"Hello " + name', '"Good day, " + name');
    bead = await own.work("Greet people politely", {
      files: { "src/greet.ts": polite.replace("Bye", "Goodbye") },
    });
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser, { viewport: { width: 1440, height: 900 } }));
    await signIn(page, here, `/review/${bead}`);
    await page.getByRole("button", { name: "Unified" }).click();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await own?.remove();
  });

  const bar = () => page.locator('[data-hunk-bar="src/greet.ts:1"]');
  const standing = (word: string) => page.locator(`[data-hunk-bar][data-standing="${word}"]`);
  const marked = (verdict: string) => page.locator(`[data-line][data-verdict="${verdict}"]`);
  const kept = async () => {
    const { decisions, tally } = await own.json<Kept>("review", "show", bead);
    return { decisions: decisions.map(({ lines, verdict }) => ({ lines, verdict })), tally };
  };
  const decide = async (verb: string) => {
    await page.locator("[data-at='2']").first().click();
    await bar()
      .getByRole("button", { name: `${verb} line 2` })
      .click();
  };

  it.each([
    ["Accept", "accepted", "undecided", { accepted: 0, rejected: 0, undecided: 1 }],
    ["Reject", "rejected", "mixed", { accepted: 0, rejected: 1, undecided: 0 }],
  ])(
    "R3 %s: what was decided about a line stays to be seen",
    async (verb, verdict, word, tally) => {
      await decide(verb);
      await marked(verdict).waitFor();
      const lines = { from: 2, to: 2 };
      await expect.poll(kept).toEqual({ decisions: [{ lines, verdict }], tally });
      // What the page expected is what the server says.
      await page.reload();
      await marked(verdict).waitFor();
      await standing(word).waitFor();
      await bar().getByText("1 of 7 lines decided").waitFor();
      await bar().getByText(`Some lines ${verdict}`).waitFor();
      await picture(page, `review-lines-${verdict}`);
      await page.keyboard.press("u");
      await marked(verdict).waitFor({ state: "detached" });
      await standing("undecided").waitFor();
      await expect.poll(async () => (await kept()).decisions).toEqual([]);
    },
  );

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
