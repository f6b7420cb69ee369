import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Agent, Convoy, ConvoyRun } from "../src/api/types";
import { fromMenu, undoOf } from "./acts";
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

describe("what is done with a convoy", () => {
  let seeded: SeededServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let convoy: string;
  let first: string;
  let second: string;
  let loose: string;

  beforeAll(async () => {
    ({ seeded, here } = await SeededServer.bare());
    await seeded.introduce();
    first = await makeBead(seeded, "Dream [[shell sleep 600]]");
    second = await makeBead(seeded, "Wake up", "--blocked-by", first);
    loose = await makeBead(seeded, "Write the guide");
    const made = await seeded.json<{ id: string }>("convoy", "create", "Night", first, second);
    convoy = made.id;
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
  const cards = (name: string) =>
    lane(name)
      .locator("[data-card]")
      .evaluateAll((all) => all.map((one) => one.getAttribute("data-card") ?? "").toSorted());
  const card = (id: string) => page.locator(`[data-card="${id}"]`);
  const title = (id: string) => card(id).locator("[aria-describedby]");
  const now = (id = convoy) => read<Convoy>(here, `/api/v1/convoys/${id}`);
  const beadsOf = async (id = convoy) => (await now(id)).beads.toSorted();
  const run = () => read<ConvoyRun>(here, `/api/v1/convoys/${convoy}/run`);
  const undo = (text: RegExp) => undoOf(page, text);
  const convoyMenu = (name: string, line: RegExp) =>
    fromMenu(page, `Do something with ${name}`, line);

  it("C5 beads are added to a convoy from the bar, taken out by the card, and back by Undo", async () => {
    await card(loose).waitFor();
    await title(loose).click({ modifiers: ["Control"] });
    await page.getByRole("button", { name: "Add them to a convoy" }).click();
    await picture(page, "board-add-to-convoy");
    await page.getByRole("menuitemradio", { name: /^Night/ }).click();
    const all = [first, second, loose].toSorted();
    await expect.poll(() => cards("Night")).toEqual(all);
    await expect.poll(() => beadsOf()).toEqual(all);
    await page
      .getByRole("region", { name: "Selection" })
      .getByRole("button", { name: "Clear" })
      .click();
    await card(loose)
      .getByRole("button", { name: `Move ${loose}` })
      .click();
    await page.getByRole("menuitem", { name: /^Take out of Night/ }).click();
    await expect.poll(() => cards("Night")).toEqual([first, second].toSorted());
    const back = undo(/taken out of “Night”/);
    // Under the pointer the message stays, however long the server takes.
    await back.hover();
    await expect.poll(() => beadsOf()).toEqual([first, second].toSorted());
    await back.click();
    await expect.poll(() => beadsOf()).toEqual(all);
    await expect.poll(() => cards("Night")).toEqual(all);
  });

  it("C5 the panel of a bead says its convoy, and changes it", async () => {
    await title(loose).click();
    const panel = page.getByRole("complementary", { name: `Bead ${loose}` });
    await panel.getByRole("button", { name: "Convoy: Night" }).click();
    await page.getByRole("menuitemradio", { name: /^Night/ }).click();
    await panel.getByRole("button", { name: "Add to convoy" }).waitFor();
    await expect.poll(() => beadsOf()).toEqual([first, second].toSorted());
    await picture(page, "board-panel-convoy");
    await page.keyboard.press("Escape");
  });

  it("C5 a convoy gets another name and says what it is about", async () => {
    await convoyMenu("Night", /^Rename or describe…/);
    const dialog = page.getByRole("dialog", { name: "Rename or describe Night" });
    await dialog.getByLabel("Name").fill("Long night");
    await dialog.getByLabel("What it is about").fill("Until the morning");
    await dialog
      .getByText(
        `godel convoy update ${convoy} --name 'Long night' --description 'Until the morning'`,
      )
      .waitFor();
    await picture(page, "convoy-edit");
    expect(await barriers(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Save" }).click();
    await lane("Long night").waitFor();
    await expect.poll(now).toMatchObject({ name: "Long night", description: "Until the morning" });
    await undo(/^“Night” is now “Long night”/).click();
    await expect.poll(async () => (await now()).name).toBe("Night");
    await lane("Night").waitFor();
  });

  it("C5 Start begins with the model and the role that were chosen; Stop begins nothing new", async () => {
    await lane("Night").getByRole("button", { name: "Start Night" }).click();
    const plan = page.getByRole("dialog", { name: "Start Night" });
    await plan.getByLabel("Agents at once").fill("1");
    await plan.getByLabel("Model").fill("claude-sonnet-5");
    await plan.getByLabel("In which role").selectOption("refinery");
    await plan
      .getByText(
        `godel convoy start ${convoy} --agents 1 --model claude-sonnet-5 --role refinery`,
        { exact: true },
      )
      .waitFor();
    await picture(page, "convoy-start");
    expect(await barriers(page)).toEqual([]);
    await plan.getByRole("button", { name: "Start", exact: true }).click();
    await plan.waitFor({ state: "detached" });
    await lane("Night")
      .getByText(/^running, /)
      .waitFor();
    await expect.poll(run).toMatchObject({ state: "running", agents: 1 });
    const agents = async () =>
      (
        await read<{ items: { bead: string; model: string; role: string }[] }>(
          here,
          "/api/v1/agents?limit=10",
        )
      ).items.map(({ bead, model, role }) => ({ bead, model, role }));
    await expect
      .poll(agents, { timeout: 60_000 })
      .toEqual([{ bead: first, model: "claude-sonnet-5", role: "refinery" }]);
    await lane("Night").getByRole("button", { name: "Stop Night" }).click();
    await page.getByText("“Night” begins nothing new; agents at work go on").waitFor();
    await expect.poll(async () => (await run()).state).toBe("stopped");
    await lane("Night").getByRole("button", { name: "Start Night" }).waitFor();
    await picture(page, "convoy-stopped");
  });

  it("C5 a new convoy is made, archived and back, and deleted by its name", async () => {
    await page.getByRole("button", { name: "New convoy" }).click();
    const dialog = page.getByRole("dialog", { name: "New convoy" });
    await dialog.getByLabel("Name").fill("Spring");
    await dialog.getByRole("button", { name: "Create" }).click();
    await lane("Spring").waitFor();
    const spring = async () =>
      (await read<{ items: Convoy[] }>(here, "/api/v1/convoys?limit=50")).items.find(
        ({ name }) => name === "Spring",
      );
    await expect.poll(async () => (await spring())?.status).toBe("active");
    await convoyMenu("Spring", /^Archive/);
    await lane("Spring").waitFor({ state: "detached" });
    const back = undo(/^“Spring” is archived/);
    await back.hover();
    await expect.poll(async () => (await spring())?.status).toBe("archived");
    await back.click();
    await expect.poll(async () => (await spring())?.status).toBe("active");
    await lane("Spring").waitFor();
    await convoyMenu("Spring", /^Delete…/);
    const question = page.getByRole("dialog", { name: "Delete Spring?" });
    const act = question.getByRole("button", { name: "Delete the convoy" });
    await expect.poll(() => act.isDisabled()).toBe(true);
    await question.getByLabel("Type Spring to go on").fill("Sprin");
    expect(await act.isDisabled()).toBe(true);
    await question.getByLabel("Type Spring to go on").fill("Spring");
    await act.click();
    await until(async () => (await spring()) === undefined);
    await lane("Spring").waitFor({ state: "detached" });
  });

  it("D4 one click starts an agent on a bead, and a second one is not offered", async () => {
    const painted = await makeBead(seeded, "Paint it [[shell sleep 600]]");
    const menu = () => card(painted).getByRole("button", { name: `Move ${painted}` });
    const line = page.getByRole("menuitem", { name: /^Start an agent on it/ });
    await menu().click();
    await picture(page, "board-start-agent");
    await line.click();
    const told = page.getByRole("status").filter({ hasText: /is on its way/ });
    await told.getByRole("button", { name: "Open" }).waitFor();
    const { items } = await read<{ items: Agent[] }>(here, "/api/v1/agents?limit=50");
    const agent = items.find(({ bead }) => bead === painted);
    expect(agent?.harness).toBe("native");
    await menu().click();
    await line.getByText(/works on it|holds it/).waitFor();
    expect(await line.getAttribute("aria-disabled")).toBe("true");
    await page.keyboard.press("Escape");
    await seeded.godel("agent", "kill", agent?.label ?? "");
  });

  it("A4 a budget that is used up is told in the form, before anything is refused", async () => {
    await seeded.godel("budget", "set", "tenant", "0.000001/month");
    await page.goto(`${here.url}/dashboard/agents?spawn=${loose}`);
    const form = page.getByRole("dialog", { name: "Spawn an agent" });
    await form
      .getByText(/is used up: .* is spent\. Requests of the agent would be refused/)
      .waitFor();
    await picture(page, "spawn-used-up");
    await seeded.godel("budget", "set", "tenant", "100/month");
    await form.getByText(/is used up:/).waitFor({ state: "detached" });
    await page.goto(`${here.url}/dashboard/convoys`);
    await lane("Night").waitFor();
  });

  it("G17 the plan looks right in both themes", async () => {
    await eachTheme(browser, here, "/convoys", async (own, theme) => {
      await own.getByRole("button", { name: "Start Night" }).click();
      const plan = own.getByRole("dialog", { name: "Start Night" });
      await plan.getByLabel("In which role").waitFor();
      await plan.getByRole("region", { name: "Waves" }).waitFor();
      await picture(own, `convoy-start-${theme}`);
      expect(await barriers(own)).toEqual([]);
    });
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
