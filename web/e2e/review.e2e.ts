import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { badge, openBrowser, picture, signIn, visitor, type World } from "./browser";
import { GREETER, lines, ReviewServer, text } from "./reviewSeed";

describe("the review", () => {
  let own: ReviewServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let small: string;
  let mixed: string;
  let large: string;

  beforeAll(async () => {
    ({ own, here } = await ReviewServer.start(`[project]\nreview = "person"\n`, {
      "src/greet.ts": GREETER,
      "long.txt": text(lines(60)),
      "old-name.txt": text(lines(20, "same")),
      "tool.sh": "#!/bin/sh\necho hi\n",
      "space.ts": "if (a) {\nb();\n}\n",
      "said.txt": "hello\nto you\nbye\n",
    }));
    const long = lines(60);
    small = await own.work("Greet people politely", {
      files: {
        "src/greet.ts": GREETER.replace('"Hello " + name', '"Good day, " + name').replace(
          "Bye",
          "Goodbye",
        ),
        "long.txt": text(long.with(14, "fifteen").with(29, "thirty").with(54, "fifty-five")),
      },
    });
    mixed = await own.work("Tidy up <b>everything</b>", {
      renames: { "old-name.txt": "new-name.txt" },
      runs: ["tool.sh"],
      files: {
        "picture.bin": Buffer.from([0, 1, 2, 3, 0, 255, 254]),
        "package-lock.json": text(lines(40, '{ "locked": 1 }')),
        "space.ts": "if (a) {\n  b();\n}\n",
        "trick.js": "const a = 1; // \u202e nobody sees this\n",
      },
    });
    large = await own.work("Write a very long file", {
      files: { "huge.rs": text(lines(5_000, "let x = // number")) },
    });
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser, { viewport: { width: 1440, height: 900 } }));
    await signIn(page, here, "/review");
    await badge(page, "Live").waitFor();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await own?.remove();
  });

  const bar = (name: string) => page.locator(`[data-hunk-bar="${name}"]`);
  const file = (path: string) => page.locator(`[data-file="${path}"]`);
  const tally = (words: string) => page.locator("[data-tally]", { hasText: words });
  const open = async (bead: string, fields = "") => {
    await page.goto(`${here.url}/dashboard/review/${bead}${fields}`);
    await page.locator("[data-tally]").waitFor();
  };
  const standing = (name: string, word: string) =>
    page.locator(`[data-hunk-bar="${name}"][data-standing="${word}"]`).waitFor();

  it("R1 the queue is as the API orders it, with size, risk and waiting time", async () => {
    await page.locator("[data-review]").nth(2).waitFor();
    const shown = await page
      .locator("[data-review]")
      .evaluateAll((all) => all.map((one) => one.getAttribute("data-review")));
    const { items } = await own.json<{ items: { bead: string }[] }>("review", "list");
    expect(shown).toEqual(items.map(({ bead }) => bead));
    await page.getByText("Tidy up <b>everything</b>").waitFor();
    await page.locator(`[data-review="${large}"]`).getByText("large").waitFor();
    await page.locator(`[data-review="${large}"]`).getByText("+5,000").waitFor();
    await picture(page, "queue");
    await page.locator(`[data-review="${small}"]`).click();
    await bar("src/greet.ts:1").waitFor();
    await picture(page, "review");
  });

  it("R2 lines between hunks are shown by pointer and keyboard, with the numbers of both sides", async () => {
    await open(small);
    await bar("long.txt:1").waitFor();
    const expandBar = (at: number) => page.locator(`[data-expand="long.txt:${at}"]`);
    const shown = async () =>
      (await file("long.txt").locator("[data-line]").allInnerTexts()).map((row) =>
        row.split(/\s+/).filter(Boolean).join(" "),
      );
    // Lines 1 to 11 are above the first hunk.
    await expandBar(0).getByText("11 lines are not shown").waitFor();
    await expandBar(0)
      .getByRole("button", { name: /all lines above hunk 1/ })
      .click();
    await expect.poll(shown).toContain("1 1 line 1");
    await expandBar(0).waitFor({ state: "detached" });
    // 18 lines lie between the second hunk and the third; the keys go the same way.
    await bar("long.txt:3").getByRole("button", { name: "Hunk 3 of long.txt" }).click();
    expect(await shown()).not.toContain("34 34 line 34");
    await page.keyboard.press("o");
    await expect.poll(shown).toContain("34 34 line 34");
    await expandBar(2).waitFor({ state: "detached" });
    await page.keyboard.press("Shift+O");
    await expect.poll(shown).toContain("60 60 line 60");
    await expandBar(3).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Split" }).click();
    await expect.poll(shown).toContain("34 line 34 34 line 34");
    await picture(page, "expanded");
    await page.getByRole("button", { name: "Unified" }).click();
  });

  it("R1 panes are moved by keyboard and pointer, and remembered", async () => {
    const border = page.getByRole("separator", { name: "Width of the queue" });
    const width = async () => Number(await border.getAttribute("aria-valuenow"));
    const before = await width();
    await border.focus();
    await page.keyboard.press("ArrowRight");
    await expect.poll(width).toBe(before + 24);
    const box = await border.boundingBox();
    if (!box) throw new Error("no border");
    await page.mouse.move(box.x, 400);
    await page.mouse.down();
    await page.mouse.move(box.x + 40, 400);
    await page.mouse.up();
    await expect.poll(width).toBe(before + 64);
    await page.reload();
    await border.waitFor();
    await expect.poll(width).toBe(before + 64);
    await page.evaluate(() => localStorage.removeItem("godel.review.panes"));
  });

  it("R2 unified and split show the same lines, with the words that differ", async () => {
    await open(small);
    await bar("src/greet.ts:1").waitFor();
    const marks = () =>
      file("src/greet.ts")
        .locator("[data-mark]")
        .evaluateAll((all) => all.map((one) => one.textContent));
    await expect.poll(marks).toContain("Good day,");
    await expect.poll(() => file("src/greet.ts").locator('[data-kind="added"]').count()).toBe(2);
    await page.getByRole("button", { name: "Split" }).click();
    await page.locator('[data-row-kind="line"]').first().waitFor();
    expect(page.url()).toContain("diff=split");
    await expect.poll(() => file("src/greet.ts").locator('[data-kind="added"]').count()).toBe(2);
    await expect.poll(marks).toContain("Good day,");
    await picture(page, "split");
    await page.keyboard.press("s");
    await page.waitForURL((url) => !url.search.includes("split"));
  });

  it("R2 words of a program are coloured, beside the page", async () => {
    await open(small);
    const words = file("src/greet.ts").locator("[data-token]");
    await words.first().waitFor();
    const kinds = () =>
      words.evaluateAll((all) => [...new Set(all.map((one) => one.getAttribute("data-token")))]);
    await expect.poll(kinds).toEqual(expect.arrayContaining(["keyword", "string", "comment"]));
    const colourOf = (one: Locator) => one.evaluate((word) => getComputedStyle(word).color);
    const plain = await colourOf(file("src/greet.ts").locator("[data-line] code").first());
    const keyword = file("src/greet.ts").locator('[data-token="keyword"]').first();
    expect(await colourOf(keyword)).not.toBe(plain);
    expect(page.workers().some((worker) => worker.url().includes("syntax"))).toBe(true);
  });

  it("R2 renames, modes, binaries and hidden signs are said; lock files are folded", async () => {
    await open(mixed);
    await file("new-name.txt").getByText("old-name.txt").waitFor();
    await file("new-name.txt").getByText("Only the name is another.").waitFor();
    await file("package-lock.json").getByText("Generated").waitFor();
    await expect.poll(() => file("package-lock.json").locator("[data-line]").count()).toBe(0);
    await file("picture.bin")
      .getByText(/^Binary/)
      .waitFor();
    await file("tool.sh").getByText("644 → 755", { exact: true }).waitFor();
    await file("trick.js").getByText("U+202E").waitFor();
    await picture(page, "mixed");
    await page.getByRole("button", { name: "Show package-lock.json" }).click();
    await file("package-lock.json").locator("[data-line]").first().waitFor();
    await page.getByRole("button", { name: "Fold package-lock.json" }).click();
  });

  it("G15 a key finds a file of the change, and keys go on from there", async () => {
    await open(mixed);
    await page.keyboard.press("t");
    const palette = page.getByRole("dialog", { name: "Command palette" });
    await palette.getByText("Go to a file").waitFor();
    await palette.getByRole("option", { name: /package-lock\.json/ }).waitFor();
    await page.keyboard.type("trick");
    await expect.poll(() => palette.getByRole("option").count()).toBe(1);
    await picture(page, "review-go-file");
    await page.keyboard.press("Enter");
    await palette.waitFor({ state: "detached" });
    const offset = () =>
      file("trick.js").evaluate((one) => {
        const box = one.closest("[data-diff]");
        return box ? one.getBoundingClientRect().top < box.getBoundingClientRect().bottom : false;
      });
    await expect.poll(offset).toBe(true);
    await page.keyboard.press("a");
    await standing("trick.js:1", "accepted");
    await page.keyboard.press("u");
    await standing("trick.js:1", "undecided");
  });

  it("R2 changes of white space can be hidden", async () => {
    await open(mixed);
    await file("space.ts").locator('[data-kind="removed"]').waitFor();
    await page.getByRole("button", { name: "Hide white space" }).click();
    await file("space.ts").locator('[data-kind="removed"]').waitFor({ state: "detached" });
    await expect.poll(() => file("space.ts").locator('[data-kind="added"]').count()).toBe(0);
    expect(page.url()).toContain("space=hidden");
  });

  it("R2 a viewed file folds, and stays viewed after a reload", async () => {
    await open(mixed);
    await page.getByLabel("space.ts was viewed").check();
    await file("space.ts").locator("[data-line]").first().waitFor({ state: "detached" });
    await page.reload();
    await page.getByLabel("space.ts was viewed").waitFor();
    await expect.poll(() => page.getByLabel("space.ts was viewed").isChecked()).toBe(true);
    await page.getByLabel("space.ts was viewed").uncheck();
  });

  it("R2 of 5,000 lines fewer than 200 are drawn, wherever one scrolls, and the head stays", async () => {
    await open(large);
    const rows = () => page.locator('[data-row-kind="line"]').count();
    await page.locator("[data-line]").first().waitFor();
    await expect.poll(rows).toBeLessThan(200);
    for (const part of [0.3, 0.7, 1]) {
      await page.locator("[data-diff]").evaluate((box, share) => {
        box.scrollTop = box.scrollHeight * share;
      }, part);
      await expect.poll(rows).toBeGreaterThan(10);
      await expect.poll(rows).toBeLessThan(200);
      const head = await file("huge.rs").getByRole("heading", { name: "huge.rs" }).boundingBox();
      const box = await page.locator("[data-diff]").boundingBox();
      expect(Math.abs((head?.y ?? 0) - (box?.y ?? -999))).toBeLessThan(40);
    }
    await page.getByText("let x = // number 5000").waitFor();
    await picture(page, "large");
  });

  it("R3 keys accept, reject and take back, hunk by hunk", async () => {
    await open(small);
    await tally("0 accepted, 0 rejected, 4 undecided").waitFor();
    await page.keyboard.press("a");
    await page.keyboard.press("r");
    await tally("1 accepted, 1 rejected, 2 undecided").waitFor();
    const first = await page.locator("[data-hunk-bar]").first().getAttribute("data-standing");
    expect(first).toBe("accepted");
    await page.keyboard.press("u");
    await tally("1 accepted, 0 rejected, 3 undecided").waitFor();
    await page.reload();
    await tally("1 accepted, 0 rejected, 3 undecided").waitFor();
    await page.keyboard.press("u");
    await tally("0 accepted, 0 rejected, 4 undecided").waitFor();
    // The page shows it before the server has heard of it, and the next one opens anew.
    const kept = async () => (await own.json<{ tally: object }>("review", "show", small)).tally;
    await expect.poll(kept).toEqual({ accepted: 0, rejected: 0, undecided: 4 });
  });

  it("R3 a whole file and all files are decided, too", async () => {
    await open(small);
    await page.getByRole("button", { name: "Decide about long.txt" }).click();
    await page.getByRole("menuitem", { name: /^Reject the file/ }).click();
    await tally("0 accepted, 3 rejected, 1 undecided").waitFor();
    await page.getByRole("button", { name: "Accept all" }).click();
    await tally("4 accepted, 0 rejected, 0 undecided").waitFor();
    // The page shows it before the server has heard of it.
    const kept = async () => (await own.json<{ tally: object }>("review", "show", small)).tally;
    await expect.poll(kept).toEqual({ accepted: 4, rejected: 0, undecided: 0 });
    await page.keyboard.press("u");
    await page.keyboard.press("u");
    await tally("0 accepted, 0 rejected, 4 undecided").waitFor();
  });

  it("R8 comments on lines collect, and threads have answers", async () => {
    await open(small);
    await bar("long.txt:2").getByRole("button", { name: "Comment" }).click();
    await page.getByLabel("About line 30").fill("Say it in digits");
    await page.reload();
    await bar("long.txt:2").getByRole("button", { name: "Comment" }).click();
    const line = page.getByLabel("About line 30");
    await expect.poll(() => line.inputValue()).toBe("Say it in digits");
    // What could not be sent is where it was written, until it is sent after all.
    await page.route("**/comments", (route) => route.abort(), { times: 1 });
    await page.keyboard.press("Control+Enter");
    const refusal = page.getByText("Not done: Comment");
    await refusal.waitFor();
    await bar("long.txt:2").getByRole("button", { name: "Comment" }).click();
    await expect.poll(() => line.inputValue()).toBe("Say it in digits");
    await page.getByRole("button", { name: "Retry" }).click();
    await expect.poll(() => line.inputValue()).toBe("");
    await line.press("Escape");
    const thread = file("long.txt").locator("[data-thread]");
    await thread.getByText("Say it in digits", { exact: true }).waitFor();
    await thread.getByText("Not sent yet").waitFor();
    await thread.getByRole("button", { name: "Answer" }).click();
    await page.getByLabel("Your answer").first().fill("Please");
    await page.keyboard.press("Control+Enter");
    await thread.getByText("Please").waitFor();
    await picture(page, "thread");
  });

  it("R9 what is in the way of an approval is listed", async () => {
    await bar("long.txt:2").getByRole("button", { name: "Reject" }).click();
    await standing("long.txt:2", "rejected");
    await page
      .getByRole("region", { name: "What is in the way" })
      .getByText(/1 hunk is rejected/)
      .waitFor();
    const approve = page.getByRole("button", { name: "Approve", exact: true });
    await expect.poll(() => approve.getAttribute("aria-disabled")).toBe("true");
    await picture(page, "blocked");
  });

  it("R8 all of it goes to the agent as one message, and R4 decisions bind again after a push", async () => {
    await bar("long.txt:1").getByRole("button", { name: "Accept" }).click();
    await standing("long.txt:1", "accepted");
    await page.getByRole("button", { name: "Request changes" }).click();
    await page
      .getByRole("list", { name: "Comments that are sent" })
      .getByText("Say it in digits")
      .waitFor();
    await picture(page, "request");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText(/^Round 1 of .* waits for an agent$/).waitFor();
    await page.getByText("Sent in round 1").first().waitFor();
    // Nobody goes on with it yet, so it is to be had.
    expect((await own.json<{ status: string }>("bead", "show", small)).status).toBe("open");
    const moved = lines(60).with(14, "fifteen").with(29, "the number 30").with(54, "fifty-five");
    await own.push(small, { files: { "long.txt": text(["on top", ...moved]) } });
    await own.godel("bead", "status", small, "review");
    await open(small);
    await file("long.txt").getByText("Changed since you decided").waitFor();
    await page
      .getByRole("region", { name: "Changed since you decided" })
      .getByText("long.txt")
      .waitFor();
    await standing("long.txt:2", "accepted");
    await standing("long.txt:3", "undecided");
    await picture(page, "rebound");
  });

  it("A14 after a round only what is new is shown to who wants that, also after a reload", async () => {
    const since = page.getByRole("button", { name: /^Only what is new since round 1/ });
    await since.click();
    await page.getByText("2 of 5 parts new").waitFor();
    await file("src/greet.ts").waitFor({ state: "detached" });
    const shown = () => file("long.txt").locator("[data-line]").allInnerTexts();
    const isNew = async () => {
      await page.locator('[data-hunk-bar="long.txt:2"][data-old]').waitFor();
      await file("long.txt").getByText("the number 30").waitFor();
      expect((await shown()).filter((line) => /fifteen|fifty-five/.test(line))).toEqual([]);
    };
    await isNew();
    await picture(page, "review-since");
    await page.reload();
    await isNew();
    // The cursor goes by what was there before.
    const here = () => page.locator("[data-hunk-bar][data-here]").getAttribute("data-hunk-bar");
    await expect.poll(here).toBe("long.txt:1");
    await page.keyboard.press("j");
    await expect.poll(here).toBe("long.txt:3");
    await page.keyboard.press("l");
    await file("src/greet.ts").waitFor();
    expect(new URL(page.url()).search).not.toContain("since");
  });

  it("R5 an edit is kept on the server, and R7 the patch is what was accepted", async () => {
    await page.getByRole("button", { name: "Accept all" }).click();
    await standing("long.txt:3", "accepted");
    await bar("long.txt:3").getByRole("button", { name: "Edit" }).click();
    const editor = page.getByLabel(/^What long.txt:3 is to be/);
    await expect.poll(() => editor.inputValue()).toBe("the number 30\n");
    await editor.fill("30, by hand\n");
    await picture(page, "editor");
    await page.getByRole("button", { name: "Save" }).click();
    await standing("long.txt:3", "edited");
    await file("long.txt").getByText("30, by hand").waitFor();
    const href = await page.getByRole("link", { name: "Export .patch" }).getAttribute("href");
    const patch = await page.evaluate(async (path) => (await fetch(path)).text(), href ?? "");
    expect(patch).toContain("+30, by hand");
    expect(patch).toBe(await own.godel("review", "export", small));
  });

  it("R6 applying asks about what is undecided, and shows the commit", async () => {
    await bar("long.txt:4").getByRole("button", { name: "Undo" }).click();
    await standing("long.txt:4", "undecided");
    await page.getByRole("button", { name: "Apply…" }).click();
    const dialog = page.getByRole("dialog");
    const apply = dialog.getByRole("button", { name: "Apply", exact: true });
    await expect.poll(() => apply.getAttribute("aria-disabled")).toBe("true");
    await dialog.getByLabel("Leave them out, as if rejected").check();
    await picture(page, "apply");
    await apply.click();
    await page.locator("[data-applied]").waitFor();
    const commit = await own.git("rev-parse", `bead/${small}`);
    await dialog.locator(`[title="Copy ${commit}"]`).waitFor();
    await picture(page, "applied");
    await dialog.getByRole("button", { name: "Close" }).click();
    await expect.poll(() => own.git("show", `bead/${small}:long.txt`)).toContain("30, by hand");
    await file("long.txt").getByText("30, by hand").waitFor();
  });

  it("R6 undo adds a commit with the files from before, and says so to everybody", async () => {
    const applied = await own.git("rev-parse", `bead/${small}`);
    const strip = page.getByRole("region", { name: "Applied" });
    await strip.locator(`[title="Copy ${applied}"]`).waitFor();
    await strip.getByRole("button", { name: "Compare with main" }).click();
    await page.getByRole("region", { name: "Conflicts" }).getByText("can be merged").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await strip.getByRole("button", { name: "Undo apply" }).click();
    await strip.waitFor({ state: "detached" });
    await expect.poll(() => own.git("rev-parse", `bead/${small}^`)).toBe(applied);
    await expect.poll(() => own.git("diff", "--stat", `${applied}^`, `bead/${small}`)).toBe("");
    await standing("long.txt:4", "undecided");
  });

  it("R6 files in conflict with the target are shown with both sides", async () => {
    const clash = await own.work("Say it otherwise", {
      files: {
        "tool.sh": "#!/bin/sh\necho hello\necho more\n",
        "note.txt": "a note\n",
        "said.txt": "hello\nto all\nbye\n",
      },
    });
    await own.git("checkout", "-q", "main");
    await own.git("config", "commit.gpgsign", "false");
    const tree = `${own.server.folder}/clash`;
    await own.git("worktree", "add", "-q", "-b", "clash", tree, "main");
    await own.git("-C", tree, "rm", "-q", "tool.sh");
    await writeFile(join(tree, "said.txt"), "hello\nto nobody\nbye\n");
    await own.git("-C", tree, "add", "-A");
    await own.git("-C", tree, "commit", "-q", "-m", "No tool");
    await own.git("merge", "-q", "--ff-only", "clash");
    await open(clash);
    await page.getByRole("button", { name: "Accept all" }).click();
    await tally("3 accepted, 0 rejected, 0 undecided").waitFor();
    await page
      .locator('[data-part="note.txt"], [data-hunk-bar="note.txt:1"]')
      .first()
      .getByRole("button", { name: "Reject" })
      .click();
    await tally("2 accepted, 1 rejected, 0 undecided").waitFor();
    await page.getByRole("button", { name: "Apply…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Apply", exact: true }).click();
    const conflicts = page.getByRole("region", { name: "Conflicts" });
    const clashing = (path: string) => conflicts.locator(`[data-conflict="${path}"]`);
    await clashing("tool.sh").getByText("The branch removed it").waitFor();
    await clashing("said.txt").locator('[data-side="target"]').getByText("to nobody").waitFor();
    await clashing("said.txt").locator('[data-side="work"]').getByText("to all").waitFor();
    await picture(page, "conflict");
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  });

  it("R9 an approval lands through the merge queue", async () => {
    await open(large);
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByText("Approved", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: "Send to the merge queue" }).click();
    await page.getByText(`${large} is in the merge queue`).waitFor();
    await page.locator(`[data-review="${large}"]`).waitFor({ state: "detached" });
    await expect.poll(() => own.git("show", "main:huge.rs")).toContain("number 5000");
  });

  it("G3 a decision by somebody else shows without a reload", async () => {
    await open(mixed);
    await own.godel("review", "accept", mixed, "trick.js");
    await tally("1 accepted").waitFor();
    await own.godel("review", "undo", mixed);
    await tally("0 accepted").waitFor();
  });

  it("R1 a narrow page shows one pane at a time", async () => {
    await open(mixed);
    await page.setViewportSize({ width: 390, height: 800 });
    await page.getByRole("button", { name: "Conversation" }).click();
    await page.getByRole("button", { name: "Request changes" }).waitFor();
    await picture(page, "review-talk-narrow");
    await page.getByRole("button", { name: "Queue" }).click();
    await page.locator("[data-review]").first().waitFor();
    await picture(page, "review-queue-narrow");
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
