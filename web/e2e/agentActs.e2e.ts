import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Agent, RuntimeInfo, UsageReport } from "../src/api/types";
import { until } from "./beadSeed";
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

describe("what is done with an agent", () => {
  let seeded: SeededServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let busy: string;
  let other: string;

  beforeAll(async () => {
    ({ seeded, here } = await SeededServer.bare());
    await seeded.introduce();
    busy = await spawn("Think for long [[shell sleep 600]]");
    other = await spawn("Dream for long [[shell sleep 600]]");
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser, { viewport: { width: 1440, height: 900 } }));
    await signIn(page, here, "/agents");
    await badge(page, "Live").waitFor();
    for (const name of [busy, other]) {
      await until(async () => (await agent(name)).lifecycleState === "executing");
    }
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  const spawn = async (task: string) =>
    (await seeded.json<{ label: string }>("agent", "spawn", task)).label;
  const agent = (name: string) => read<Agent>(here, `/api/v1/agents/${name}`);
  const agents = async () =>
    (await read<{ items: Agent[] }>(here, "/api/v1/agents?limit=50")).items;
  const row = (id: string) => page.locator(`[data-row="${id}"]`);

  it("A2 the table tells as much as the cards: what it does, its bead, its context, today's cost", async () => {
    const { id, bead } = await agent(busy);
    const day = new Date().toISOString().slice(0, 10);
    const { rows } = await read<UsageReport>(
      here,
      `/proxy/v1/usage?from=${day}&to=${day}&groupBy=agent`,
    );
    const cost = rows.find(({ group }) => group.agent === id)?.costMicros;
    expect(cost).toBeGreaterThan(0);
    await page.getByRole("button", { name: "Table", exact: true }).click();
    await row(id).waitFor();
    await expect
      .poll(() => row(id).locator("[data-today]").getAttribute("data-today"))
      .toBe(String(cost));
    await row(id).getByRole("meter", { name: "Context" }).waitFor();
    await picture(page, "agents-table");
    expect(await barriers(page)).toEqual([]);
    // What it does is told live: a fresh agent says what it calls.
    const fresh = await spawn("Look around [[shell sleep 601]]");
    const { id: freshId } = await agent(fresh);
    await row(freshId)
      .locator("[data-doing]", { hasText: "sleep 601" })
      .waitFor({ timeout: 60_000 });
    // Who comes later reads it from the log.
    await page.reload();
    await row(freshId).locator("[data-doing]", { hasText: "sleep 601" }).waitFor();
    await seeded.godel("agent", "kill", fresh);
    await row(id)
      .getByRole("link", { name: new RegExp(bead.slice(-5)) })
      .click();
    await page.getByRole("complementary", { name: `Bead ${bead}` }).waitFor();
    await page.goto(`${here.url}/dashboard/agents`);
  });

  it("A3 who takes over gets a shell and control of it; many at once cannot be taken", async () => {
    await page.getByLabel(`Select ${busy}`).check();
    await page.getByLabel(`Select ${other}`).check();
    const bar = page.getByRole("region", { name: "Selection" });
    const verb = bar.getByRole("button", { name: "Take over" });
    await expect.poll(() => verb.getAttribute("aria-disabled")).toBe("true");
    await bar.getByText("Take over one agent at a time.").waitFor({ state: "attached" });
    await page.getByLabel(`Select ${other}`).uncheck();
    await expect.poll(() => verb.getAttribute("aria-disabled")).toBe(null);
    await bar.getByRole("button", { name: "Clear" }).click();
    await page.getByRole("button", { name: `Do something with ${busy}` }).click();
    await picture(page, "agents-verbs");
    await page
      .getByRole("menuitem", { name: new RegExp(`^Take over.*attach ${busy} --terminal --take`) })
      .click();
    await page.getByText("You have control").waitFor({ timeout: 40_000 });
    // A reload takes nothing from anybody: the address does not ask again.
    expect(new URL(page.url()).search).toBe("?tab=terminal&show=shell");
    await picture(page, "agent-taken-over");
    await page.getByRole("button", { name: "Release control" }).click();
    await page.getByText("Nobody has control, you watch").waitFor();
  });

  it("A4 the drawer offers what the server offers, says what it can do, and refuses at the field", async () => {
    const { items } = await read<{ items: RuntimeInfo[] }>(here, "/api/v1/runtimes");
    await page.goto(`${here.url}/dashboard/agents?spawn=1`);
    const drawer = page.getByRole("dialog", { name: "Spawn an agent" });
    await drawer.getByText(/^worktree: snapshots are workspace only, .*network/).waitFor();
    const choices = await drawer
      .getByLabel("Runtime")
      .locator("option")
      .evaluateAll((all) =>
        all.slice(1).map((one) => {
          const { value, disabled } = one as HTMLOptionElement;
          return { name: value, offered: !disabled };
        }),
      );
    expect(choices).toEqual(items.map(({ name, offered }) => ({ name, offered })));
    await drawer.getByLabel("Task").fill("Rest [[shell sleep 600]]");
    await drawer.getByLabel("Ends after").fill("soon");
    await drawer.getByLabel("Name", { exact: true }).fill(busy);
    await drawer.getByRole("button", { name: "Spawn" }).click();
    await drawer.getByText("Write a time such as 90m, 2h or 3d.").waitFor();
    await drawer.getByLabel("Ends after").fill("1h 30m");
    await drawer.getByRole("button", { name: "Spawn" }).click();
    const field = drawer.getByLabel("Name", { exact: true });
    await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
    await picture(page, "agents-spawn-refused");
    expect(await barriers(page)).toEqual([]);
    await field.fill("sleeper");
    await drawer.getByText(/--name sleeper --timeout 90m$/).waitFor();
    await drawer.getByRole("button", { name: "Spawn" }).click();
    await page.getByText("sleeper is on its way").waitFor();
    await expect.poll(async () => (await agents()).map(({ label }) => label)).toContain("sleeper");
    await seeded.godel("agent", "kill", "sleeper");
  });

  it("G6 an agent that was ended goes on as a new one by Undo", async () => {
    await page.goto(`${here.url}/dashboard/agents/${other}`);
    const before = (await agents()).map(({ id }) => id);
    await page.getByRole("button", { name: "End" }).click();
    await page.getByRole("button", { name: `End ${other}` }).click();
    const told = page
      .getByRole("status")
      .filter({ hasText: `${other} was ended, and a snapshot is kept.` });
    const undo = told.getByRole("button", { name: "Undo" });
    // Under the pointer the message stays, however long the server takes.
    await undo.hover();
    await picture(page, "agent-ended");
    await expect.poll(async () => (await agent(other)).status).toBe("killed");
    await undo.click();
    await page.getByText(new RegExp(` goes on where ${other} was ended$`)).waitFor();
    const fresh = async () => (await agents()).filter(({ id }) => !before.includes(id));
    await expect.poll(async () => (await fresh()).length).toBe(1);
    expect((await agent(other)).status).toBe("killed");
  });

  it("G17 the table and the drawer look right in both themes", async () => {
    await eachTheme(browser, here, "/agents?view=table&spawn=1", async (own, theme) => {
      const drawer = own.getByRole("dialog", { name: "Spawn an agent" });
      await drawer.getByText(/^worktree: snapshots/).waitFor();
      await picture(own, `agents-spawn-${theme}`);
      expect(await barriers(own)).toEqual([]);
      await own.keyboard.press("Escape");
      await drawer.waitFor({ state: "detached" });
      await picture(own, `agents-table-${theme}`);
      expect(await barriers(own)).toEqual([]);
    });
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
