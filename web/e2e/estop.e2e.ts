import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Agent, Estop } from "../src/api/types";
import {
  badge,
  barriers,
  cutOff,
  openBrowser,
  picture,
  read,
  signIn,
  visitor,
  type World,
} from "./browser";
import { somebody } from "./people";
import { SeededServer } from "./seed";

describe("the emergency stop", () => {
  let seeded: SeededServer;
  let busy: string;
  let here: World;
  let browser: Browser;
  let page: Page;
  let other: Page;
  let problems: string[];

  beforeAll(async () => {
    let seed: { busy: string };
    ({ seeded, here, seed } = await SeededServer.start());
    busy = seed.busy;
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser, { colorScheme: "light" }));
    await signIn(page, here, "/agents");
    await badge(page, "Live").waitFor();
    other = await somebody(browser, here, { name: "vic", role: "viewer", place: "/beads" });
    await badge(other, "Live").waitFor();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  const banner = (on: Page) => on.getByRole("region", { name: "Emergency stop" });
  const estop = () => read<Estop>(here, "/api/v1/estop");
  const stateOf = async (label: string) =>
    (await read<Agent>(here, `/api/v1/agents/${label}`)).lifecycleState;

  /** Chooses the stop in the palette. */
  async function ask() {
    await page.keyboard.press("Control+k");
    await page.keyboard.type("stop everything");
    await page.getByRole("option", { name: /^Stop everything/ }).waitFor();
    await page.keyboard.press("Enter");
    return page.getByRole("dialog", { name: "Stop everything?" });
  }

  it("asks first, and does nothing if one thinks better of it", async () => {
    const dialog = await ask();
    await dialog.getByText("godel estop", { exact: true }).waitFor();
    await picture(page, "estop-question");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await estop()).stopped).toBe(false);
    expect(await banner(page).count()).toBe(0);
  });

  it("G3 stops all agents, and everybody sees since when and why", async () => {
    const dialog = await ask();
    await dialog.getByLabel("Why, for those who come later").fill("wrong branch");
    await dialog.getByText("godel estop --reason 'wrong branch'").waitFor();
    await dialog.getByRole("button", { name: "Stop everything" }).click();
    await expect.poll(async () => (await estop()).stopped).toBe(true);
    expect((await estop()).reason).toBe("wrong branch");
    await expect.poll(() => stateOf(busy)).toBe("paused");
    for (const one of [page, other]) {
      await banner(one).getByText("Everything stands still. Wrong branch.").waitFor();
      await banner(one)
        .getByText(/^Stopped .* by owner$/)
        .waitFor();
    }
    await page.locator(`[data-agent="${busy}"]`).getByText("Paused", { exact: true }).waitFor();
  });

  it("G18 the banner keeps nobody out and is cut off nowhere", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await barriers(page), colorScheme).toEqual([]);
      await picture(page, `estop-banner-${colorScheme}`);
    }
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 320, height: 700 });
    await picture(page, "estop-banner-narrow");
    expect(await cutOff(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it("G14 who only looks cannot let it go on, and is told why", async () => {
    const resume = banner(other).getByRole("button", { name: "Resume" });
    await expect.poll(() => resume.getAttribute("aria-disabled")).toBe("true");
    await banner(other)
      .getByText(/^Your role viewer does not allow this; it needs agent:execute:team/)
      .waitFor({ state: "attached" });
    // The browser lets it be pressed; it only does nothing.
    await resume.click({ force: true });
    await other.keyboard.press("Control+k");
    await other.keyboard.type("stop everything");
    const line = other.getByRole("option", { name: /^Stop everything/ });
    await expect.poll(() => line.getAttribute("aria-disabled")).toBe("true");
    await other.keyboard.press("Escape");
    expect((await estop()).stopped).toBe(true);
  });

  it("is there after a reload, and Resume lets all go on", async () => {
    await page.reload();
    await banner(page).getByRole("button", { name: "Resume" }).click();
    await banner(page).waitFor({ state: "detached" });
    await expect.poll(async () => (await estop()).stopped).toBe(false);
    await banner(other).waitFor({ state: "detached" });
    await expect.poll(() => stateOf(busy)).not.toBe("paused");
  });

  it("G6 can be taken back from its message", async () => {
    const dialog = await ask();
    await dialog.getByRole("button", { name: "Stop everything" }).click();
    await banner(page).getByText("Everything stands still. No reason was given.").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(async () => (await estop()).stopped).toBe(false);
    await banner(page).waitFor({ state: "detached" });
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
