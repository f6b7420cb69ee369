import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Project, RuntimeInfo } from "../src/api/types";
import { fromMenu, undoOf } from "./acts";
import { makeBead, paste, readBead, until } from "./beadSeed";
import { badge, openBrowser, picture, read, signIn, visitor, type World, world } from "./browser";
import { type Seed, SeededServer } from "./seed";

describe("the board of convoys", () => {
  let seeded: SeededServer;
  let seed: Seed;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    ({ seeded, seed, here } = await SeededServer.start());
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser, { viewport: { width: 1440, height: 900 } }));
    await signIn(page, here, "/convoys");
    await badge(page, "Live").waitFor();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  const lane = (name: string) => page.getByRole("region", { name, exact: true });
  const cell = (laneName: string, column: string) =>
    page.getByRole("group", { name: `${laneName}: ${column}`, exact: true });
  const cards = (laneName: string, column: string) =>
    cell(laneName, column)
      .locator("[data-card]")
      .evaluateAll((all) => all.map((one) => one.getAttribute("data-card")));
  const card = (id: string) => page.locator(`[data-card="${id}"]`);
  const title = (id: string) => card(id).locator("[aria-describedby]");
  const eta = (laneName: string) => lane(laneName).locator("[data-eta]");
  const said = (text: RegExp) => page.locator("[data-board-said]", { hasText: text });

  it("C1 columns hold the beads, in lanes by convoy, agent or none", async () => {
    const [first = "", second = "", third = ""] = seed.beads;
    await card(first).waitFor();
    await expect.poll(() => cards("Release 1.0", "Open")).toEqual([first, second, third]);
    await expect.poll(() => cards("In no convoy", "Review")).toEqual([seed.inReview.bead]);
    await expect.poll(() => cards("In no convoy", "Done")).toEqual([seed.landed]);
    await expect
      .poll(() => page.locator("[data-column] h2").allTextContents())
      .toEqual(["Open", "In progress", "Review", "Done"]);
    await expect
      .poll(() => page.locator("[data-column] [data-count]").allTextContents())
      .toEqual(["3", "2", "1", "1"]);
    await picture(page, "board");
    await page.getByRole("button", { name: "Agent", exact: true }).click();
    await expect.poll(() => cards("Nobody", "Open")).toEqual([first, second, third]);
    await expect.poll(() => cards(seed.busy, "In progress")).toHaveLength(1);
    await page.reload();
    await lane(seed.busy).waitFor();
    expect(page.url()).toContain("lanes=agent");
    await page.getByRole("button", { name: "No lanes" }).click();
    await expect.poll(() => cards("All beads", "Open")).toEqual([first, second, third]);
    await picture(page, "board-no-lanes");
    await page.getByRole("button", { name: "Convoy", exact: true }).click();
  });

  it("C1 a limit turns the head of a column amber, and what won't be done is hidden", async () => {
    const head = page.locator("[data-column='open']");
    const ground = () => head.evaluate((one) => getComputedStyle(one).backgroundColor);
    const within = await ground();
    await page.getByRole("button", { name: "Limit of Open" }).click();
    await page.getByRole("menuitemradio", { name: "At most 2", exact: true }).click();
    await head.getByText("over the limit").waitFor({ state: "attached" });
    await expect.poll(ground).not.toBe(within);
    await expect.poll(() => head.locator("[data-count]").textContent()).toContain("3 of 2");
    await picture(page, "board-limit");
    await page.getByRole("button", { name: "Limit of Open" }).click();
    await page.getByRole("menuitemradio", { name: "No limit" }).click();
    await expect.poll(ground).toBe(within);
    await page.mouse.move(5, 5);
    const dropped = await makeBead(seeded, "Nobody needs this");
    await card(dropped).waitFor();
    await seeded.godel(
      "bead",
      "close",
      dropped,
      "--resolution",
      "wont-do",
      "--reason",
      "not needed",
    );
    await card(dropped).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Show also" }).click();
    await page.getByRole("menuitemradio", { name: /won’t be done/ }).click();
    await card(dropped).waitFor();
    await page.getByRole("button", { name: "Show also" }).click();
    await page.getByRole("menuitemradio", { name: /won’t be done/ }).click();
    await card(dropped).waitFor({ state: "detached" });
  });

  it("G11 nothing moves under the pointer: what others do waits until it is wanted", async () => {
    const [first = "", second = "", third = ""] = seed.beads;
    await title(second).hover();
    const calm = await makeBead(seeded, "Water the plants");
    const fresh = page.getByRole("button", { name: "1 new card", exact: true });
    await fresh.waitFor();
    expect(await card(calm).count()).toBe(0);
    expect(await cards("Release 1.0", "Open")).toEqual([first, second, third]);
    await picture(page, "board-calm");
    await fresh.click();
    await card(calm).waitFor();
    await fresh.waitFor({ state: "detached" });
    await seeded.godel("bead", "delete", calm, "--yes");
    // It stays as it was for who looks at it, and is gone when nobody does.
    await page.mouse.move(5, 5);
    await card(calm).waitFor({ state: "detached" });
  });

  it("C2 a card says what it waits on and how large its change is; a click opens a panel", async () => {
    const [, second = "", third = ""] = seed.beads;
    await card(third).getByText(`waits on ${second}`).waitFor();
    await card(seed.inReview.bead).getByText("+1", { exact: true }).waitFor();
    await title(third).click();
    const panel = page.getByRole("complementary", { name: `Bead ${third}` });
    await panel.getByText("Blocked: It waits on Add a page for costs.").waitFor();
    expect(page.url()).toContain("/convoys");
    await picture(page, "board-panel");
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
  });

  it("C3 a card is dragged to another column, and it can be taken back", async () => {
    const [first = ""] = seed.beads;
    await drag(first, "In progress");
    const undo = page.getByRole("button", { name: "Undo" });
    // Under the pointer the message stays, however long a command takes.
    await undo.hover();
    await until(async () => (await readBead(seeded, first)).status === "in-progress");
    await expect.poll(() => cards("Release 1.0", "In progress")).toEqual([first]);
    await undo.click();
    await until(async () => (await readBead(seeded, first)).status === "open");
    await cell("Release 1.0", "Open").locator(`[data-card="${first}"]`).waitFor();
    await expect.poll(async () => (await readBead(seeded, first)).agent ?? "").toBe("");
  });

  it("C3 an illegal move snaps back with the server's reason", async () => {
    const [first = ""] = seed.beads;
    await drag(first, "Review");
    const alert = page.getByRole("alert").filter({ hasText: "cannot move to review" });
    await alert.waitFor();
    await expect.poll(() => cards("Release 1.0", "Open")).toContain(first);
    await expect.poll(async () => (await readBead(seeded, first)).status).toBe("open");
    await picture(page, "board-refused");
    await alert.getByRole("button", { name: "Dismiss the message" }).click();
  });

  it("C3 keys lift, move, drop and cancel, and all of it is said", async () => {
    const [first = "", second = "", third = ""] = seed.beads;
    await title(first).focus();
    await page.keyboard.press("Space");
    await said(/^Lifted Fix the login form\. Open, place 1 of 3\./).waitFor({ state: "attached" });
    await page.keyboard.press("ArrowRight");
    await said(/^In progress, place 1 of 1\./).waitFor({ state: "attached" });
    await page.keyboard.press("Escape");
    await said(/^Cancelled\./).waitFor({ state: "attached" });
    await expect.poll(() => cards("Release 1.0", "Open")).toEqual([first, second, third]);
    await page.keyboard.press("Space");
    await page.keyboard.press("ArrowDown");
    await said(/^Open, place 2 of 3\./).waitFor({ state: "attached" });
    await picture(page, "board-lifted");
    await page.keyboard.press("Space");
    await until(async () => (await readBead(seeded, first)).rank !== undefined);
    await expect.poll(() => cards("Release 1.0", "Open")).toEqual([second, first, third]);
    await page.reload();
    await card(first).waitFor();
    await expect.poll(() => cards("Release 1.0", "Open")).toEqual([second, first, third]);
    await title(first).focus();
    await page.keyboard.press("ArrowDown");
    await expect
      .poll(() => title(third).evaluate((one) => one === document.activeElement))
      .toBe(true);
  });

  it("C3 several cards move together, and what others move is seen", async () => {
    const [first = "", second = ""] = seed.beads;
    await title(first).click({ modifiers: ["Control"] });
    await title(second).click({ modifiers: ["Control"] });
    await page.getByText("2 beads selected").waitFor();
    await drag(second, "In progress");
    await until(async () => (await readBead(seeded, first)).status === "in-progress");
    await until(async () => (await readBead(seeded, second)).status === "in-progress");
    await expect.poll(() => cards("Release 1.0", "In progress")).toEqual([second, first]);
    await page.mouse.move(5, 5);
    for (const id of [first, second]) await seeded.godel("bead", "release", id, "--force");
    await cell("Release 1.0", "Open").locator(`[data-card="${first}"]`).waitFor();
    await cell("Release 1.0", "Open").locator(`[data-card="${second}"]`).waitFor();
  });

  it("C3 two people who move the same card see the same in the end, which is what is in git", async () => {
    const [first = ""] = seed.beads;
    const { page: other } = await visitor(browser, { viewport: { width: 1440, height: 900 } });
    await signIn(other, here, "/convoys");
    const both = [page, other];
    const column = (on: Page) =>
      on
        .locator(`[data-card="${first}"]`)
        .first()
        .evaluate((card) => card.closest("[data-cell]")?.getAttribute("data-cell"));
    for (const on of both) await expect.poll(() => column(on)).toBe("open");
    // What the other asks for comes to the server after the first has moved it: there is nothing to review then.
    let letGo = () => {};
    const moved = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await other.route(`**/api/v1/**/${first}**`, async (route) => {
      if (route.request().method() !== "GET") await moved;
      await route.continue();
    });
    await fromMenu(other, `Move ${first}`, /^Review/);
    await expect.poll(() => column(other)).toBe("review");
    await fromMenu(page, `Move ${first}`, /^In progress/);
    await until(async () => (await readBead(seeded, first)).status === "in-progress");
    letGo();
    // Under the pointer and around the focus nothing moves.
    for (const on of both) {
      await on.mouse.move(5, 5);
      await on.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    }
    for (const on of both) await expect.poll(() => column(on)).toBe("in-progress");
    expect((await readBead(seeded, first)).status).toBe("in-progress");
    await other.context().close();
    await seeded.godel("bead", "release", first, "--force");
    await expect.poll(() => column(page)).toBe("open");
  });

  it("C12 how many are at work is set at the head of its column, held by the server, and taken back", async () => {
    const most = async () => {
      const { items } = await read<{ items: Project[] }>(here, "/api/v1/projects");
      return items.map(({ limits }) => limits.maxAgents ?? undefined);
    };
    const head = page.locator("[data-column='in-progress'] [data-count]");
    await fromMenu(page, "Limit of In progress", /^At most 2\b/);
    await expect.poll(() => head.textContent()).toContain("of 2");
    await expect.poll(most).toEqual([2]);
    await undoOf(page, /^At most 2 agents at work in/).click();
    await expect.poll(most).toEqual([undefined]);
    await expect.poll(() => head.textContent()).not.toContain("of");
  });

  it("C4 a line at the foot makes a bead, a list makes one per line", async () => {
    await cell("Release 1.0", "Open").getByRole("button", { name: "New bead" }).click();
    await page.keyboard.type("Tell everybody");
    await page.keyboard.press("Enter");
    await cell("Release 1.0", "Open").getByText("Tell everybody").waitFor();
    await paste(page, "- Buy a cake\n- [ ] Invite people\n3. Clean up\n");
    for (const text of ["Buy a cake", "Invite people", "Clean up"]) {
      await cell("Release 1.0", "Open").getByText(text, { exact: true }).waitFor();
    }
    await page.getByText("3 beads created").waitFor();
    const found = await seeded.json<{ items?: unknown[] } | unknown[]>(
      "bead",
      "list",
      "--convoy",
      seed.convoy,
    );
    expect((Array.isArray(found) ? found : (found.items ?? [])).length).toBe(7);
    await page.keyboard.press("Escape");
  });

  it("C5 the head of a convoy says how far it is; Start shows the plan first", async () => {
    const head = lane("Release 1.0");
    await head.getByText("0 of 7 done").waitFor();
    await head.getByText("longest chain: 2 beads").waitFor();
    await expect.poll(() => head.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("0");
    // Nothing of it is finished, but another bead of the project is: it landed.
    await expect.poll(() => eta("Release 1.0").textContent()).toMatch(/ if started$/);
    expect(await eta("Release 1.0").getAttribute("title")).toMatch(
      /^7 beads left in 2 waves, up to 4 agents at once; none .* 1 finished bead of its project took \d+ (s|min) on average/,
    );
    await head.getByText(/^\$[\d.]+ of about \$[\d.]+$/).waitFor();
    await head.getByRole("button", { name: "Start Release 1.0" }).click();
    const plan = page.getByRole("dialog", { name: "Start Release 1.0" });
    await plan.getByRole("heading", { name: "2 waves" }).waitFor();
    await plan.getByText("Wave 2: 1 bead, 1 agent at once").waitFor();
    await plan.getByLabel("Agents at once").fill("2");
    await plan.getByText(/^(About|Under) .*: 7 beads left in 2 waves, up to 2 agents/).waitFor();
    const cli = `godel convoy start ${seed.convoy} --agents 2`;
    await plan.getByText(cli, { exact: true }).waitFor();
    const where = plan.getByLabel("Where they work");
    const { items: runtimes } = await read<{ items: RuntimeInfo[] }>(here, "/api/v1/runtimes");
    for (const { name, offered } of runtimes.filter(({ name }) => name !== "worktree")) {
      const option = where.locator(`option[value="${name}"]`);
      await expect.poll(() => option.isDisabled()).toBe(!offered);
      if (!offered) {
        expect(await option.textContent()).toBe(`${name}: not offered by this server`);
        continue;
      }
      await where.selectOption(name);
      await plan.getByText(`${cli} --runtime ${name}`, { exact: true }).waitFor();
      await where.selectOption("");
    }
    await plan.getByText(/^worktree: /).waitFor();
    await plan.getByLabel("How it lands").selectOption("Lands as one");
    await plan.getByText(`${cli} --together`).waitFor();
    await picture(page, "board-start");
    await page.keyboard.press("Escape");
    await plan.waitFor({ state: "detached" });
  });

  it("C5 a convoy at work says how long it still takes, by what its own beads took", async () => {
    const quick = await makeBead(seeded, "Greet [[work greeting.txt hi]]");
    const slow = await makeBead(seeded, "Dream [[shell sleep 600]]");
    const last = await makeBead(seeded, "Wake up [[work up.txt up]]", "--blocked-by", slow);
    const words = ["Dawn", quick, slow, last];
    const { id } = await seeded.json<{ id: string }>("convoy", "create", ...words);
    // The focus is in the board, so what is new waits for who reads it.
    await page.reload();
    await lane("Dawn").waitFor();
    await seeded.godel("convoy", "start", id, "--agents", "2");
    await lane("Dawn")
      .getByText(/^running, /)
      .waitFor();
    // The height of the head must not depend on what it says.
    const height = () =>
      lane("Dawn")
        .locator("header")
        .evaluate((one) => one.clientHeight);
    const before = await height();
    await expect
      .poll(async () => (await readBead(seeded, quick)).status, { timeout: 90_000 })
      .toBe("review");
    await seeded.godel("land", quick);
    await lane("Dawn").getByText("1 of 3 done").waitFor();
    await expect
      .poll(() => eta("Dawn").getAttribute("title"))
      .toMatch(
        /^Done around .*\d{2}.* 2 beads left in 2 waves, up to 2 agents at once; 1 finished bead took \d+ (s|min) on average/,
      );
    // One bead is not begun, so there is always time left.
    expect(await eta("Dawn").textContent()).toMatch(/^(under 1 min|about \d+ min) left$/);
    expect(await height()).toBe(before);
    await picture(page, "board-eta");
    // The last one first: it would be begun as soon as nothing holds it up.
    const why = ["--resolution", "wont-do", "--reason", "enough", "--force"];
    for (const bead of [last, slow]) await seeded.godel("bead", "close", bead, ...why);
    await lane("Dawn").getByText("3 of 3 done").waitFor();
    await eta("Dawn").waitFor({ state: "detached" });
  });

  it("B1 a view of the board is opened by its name", async () => {
    const { page: own } = await visitor(browser);
    await signIn(own, here, "/convoys");
    await own.getByRole("button", { name: "Views: By convoy" }).click();
    await own.getByRole("menuitemradio", { name: "By agent" }).click();
    await own.getByRole("button", { name: "Views: By agent" }).waitFor();
    expect(new URL(own.url()).search).toBe("?lanes=agent");
    await own.goBack();
    await own.getByRole("button", { name: "Views: By convoy" }).waitFor();
    await own.context().close();
  });

  it("G8 without any bead the page says why, and what to do", async () => {
    const { page: own } = await visitor(browser);
    await signIn(own, world(), "/convoys");
    await own.getByText(/^There are no beads yet\./).waitFor();
    await own.getByText('godel bead create "Fix the login form"').waitFor();
    await picture(own, "convoys-empty");
    await own.context().close();
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });

  /** Drags a card with the mouse to the foot of a column of its lane. */
  async function drag(id: string, column: string): Promise<void> {
    const from = await card(id).boundingBox();
    const to = await cell("Release 1.0", column).boundingBox();
    if (!from || !to) throw new Error("nothing to drag");
    await page.mouse.move(from.x + 60, from.y + 30);
    await page.mouse.down();
    await page.mouse.move(from.x + 80, from.y + 40, { steps: 3 });
    await page.mouse.move(to.x + to.width / 2, to.y + 20, { steps: 6 });
    await page.mouse.up();
    await page.mouse.move(5, 5);
  }
});
