import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "./beadSeed";
import { badge, openBrowser, type World } from "./browser";
import { insidesOf } from "./insides";
import { somebody } from "./people";
import { type Full, fullServer, PLACES } from "./places";
import { type Pressed, Presser } from "./pressing";
import type { SeededServer } from "./seed";

describe("G14 what a person may not do cannot be pressed", () => {
  let seeded: SeededServer;
  let here: World;
  let full: Full;
  let browser: Browser;
  let viewer: Pressed;
  let developer: Pressed;

  beforeAll(async () => {
    ({ seeded, here, ...full } = await fullServer());
    browser = await openBrowser();
    // Side by side: most of the time they wait for the server.
    [viewer, developer] = await Promise.all([
      pressedBy("viewer", { writes: true }),
      pressedBy("developer", { writes: false }),
    ]);
  }, 400_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  /** Presses all there is to press on every page. */
  async function pressedBy(role: string, options: { writes: boolean }): Promise<Pressed> {
    const page = await somebody(browser, here, { name: `a-${role}`, role, place: "/" });
    await badge(page, "Live").waitFor();
    const presser = new Presser(page);
    for (const place of [...PLACES, ...insidesOf(full)]) await presser.through(place, options);
    await until(async () => presser.waiting === 0);
    const pressed = { ...presser.pressed, refused: [...presser.pressed.refused] };
    // It hears what is refused: nobody of these may make people.
    await page.evaluate(() => fetch("/api/v1/users", { method: "POST" }));
    await until(async () => presser.pressed.refused.length === pressed.refused.length + 1);
    await page.context().close();
    return pressed;
  }

  it("nothing is refused to a viewer after a click or a key", () => {
    expect(viewer.refused).toEqual([]);
    expect(viewer.count).toBeGreaterThan(40);
  });

  it("nothing is refused to a developer among the work of others", () => {
    expect(developer.refused).toEqual([]);
    expect(developer.count).toBeGreaterThan(60);
  });
});
