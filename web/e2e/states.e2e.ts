import type { Browser, Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Invitation } from "../src/api/types";
import { SECTIONS } from "../src/features/settings/sections";
import { badge, openBrowser, picture, signIn, visitor, type World } from "./browser";
import { fullServer, go, PLACES, type Place, visit } from "./places";
import { SeededServer } from "./seed";

const PATIENCE_MS = 20_000;
const WIDE = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
/** What a page asks the server for; who is here is known already. */
const ASKS = /^https?:\/\/[^/]+\/(api\/v1|proxy\/v1|health)/;
/** Pages that have something to show on a server with nothing in it, and what. */
const NEVER_EMPTY: Record<string, string> = {
  home: "text=auth:login",
  welcome: "text=Add a repository",
};
/** Parts with an empty state of their own, below the page that they are on. */
const EMPTY_PARTS = [
  ["tasks", "/queue", "Tasks"],
  ["dead", "/queue?tab=dead", "Dead letters"],
  ["schedules", "/queue?tab=schedules", "Schedules"],
  ["workflows", "/queue?tab=workflows", "Workflows"],
  ["requests", "/costs?tab=requests", "Requests"],
  ["requests-of-months", "/costs?tab=requests&range=90d", "Requests"],
  ["budgets", "/costs?tab=budgets", "Budgets"],
  ["providers", "/settings/providers", "Providers"],
  ["models", "/settings/models", "Models"],
  ["tokens", "/settings/tokens", "Agent tokens"],
] as const;
/** Home says in its own words how the server is. */
const HOME = { loading: "text=Asking the server", error: "text=Not reachable" };
/** What a server answers that cannot. */
const FAILED = {
  success: false,
  error: { code: "internal", message: "the disk is full", hint: "make room" },
  meta: { requestId: "req-0042" },
};

describe("every page with data, without, before and instead of them", () => {
  let seeded: SeededServer;
  let bare: SeededServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    ({ seeded, here } = await fullServer());
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser, { viewport: WIDE, colorScheme: "light" }));
    await signIn(page, here, "/");
    await badge(page, "Live").waitFor();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
    await bare?.remove();
  });

  /** In a tab of the same person, with something between it and the server. */
  async function behind(
    answer: (route: Route) => unknown,
    look: (own: Page) => Promise<void>,
  ): Promise<void> {
    const own = await page.context().newPage();
    own.setDefaultTimeout(PATIENCE_MS);
    try {
      await own.route(ASKS, (route) => answer(route));
      await own.addInitScript(hurry);
      await own.goto(`${here.url}/dashboard/`);
      await own.locator("main h1").waitFor({ state: "attached" });
      await look(own);
    } finally {
      // A browser has few connections, and what is never answered keeps one.
      await own.close();
    }
  }

  it("with data", async () => {
    for (const place of PLACES) {
      await visit(page, place);
      await pictures(page, `${place.name}-data`);
      expect(await page.locator('main [data-shows="error"]').count(), place.name).toBe(0);
    }
  });

  it("G7 a skeleton stands where the data will be, and the page around it is there", async () => {
    await behind(never, async (own) => {
      for (const place of PLACES) {
        await go(own, place);
        const bones = place.name === "home" ? HOME.loading : 'main [data-shows="loading"]';
        await own.locator(bones).first().waitFor();
        await expectFrame(own, place);
        await pictures(own, `${place.name}-loading`);
      }
    });
  });

  it("G9 what failed is said with its request, and goes on by Retry", async () => {
    let isBroken = true;
    const answer = (route: Route) => (isBroken ? refuse(route) : route.continue());
    await behind(answer, async (own) => {
      for (const place of PLACES.filter(({ name }) => name !== "home")) {
        isBroken = true;
        await own.goto(`${here.url}/dashboard${place.path}`);
        const panel = own.locator('main [data-shows="error"]').first();
        await panel.waitFor();
        await panel.getByText("The disk is full.").waitFor();
        await panel.getByText("Request req-0042").waitFor();
        await panel.getByRole("button", { name: "Copy details" }).waitFor();
        await expectFrame(own, place);
        await pictures(own, `${place.name}-error`);
        isBroken = false;
        const failed = own.locator('main [data-shows="error"]');
        for (let left = await failed.count(); left > 0; left -= 1) {
          await failed.first().getByRole("button", { name: "Retry" }).click();
          await expect.poll(() => failed.count()).toBeLessThan(left);
        }
        await own.locator(place.sees).first().waitFor();
      }
    });
  });

  it("G9 home says that the server cannot be asked, and shows the events", async () => {
    await behind(refuse, async (own) => {
      await own.locator(HOME.error).first().waitFor();
      await own.locator("[data-row]").first().waitFor();
      await pictures(own, "home-error");
    });
  });

  it.each([
    ["the costs", "/costs", /\/proxy\/v1\/audit/, "[role=grid]"],
    ["the queue", "/queue", /\/queue\/depth/, "text=Not all"],
    ["the beads", "/beads", /\/api\/v1\/convoys/, "main [data-row]"],
    ["home", "/", /\/api\/v1\/intents/, "[data-row]"],
  ])("G9 one part of %s that fails leaves the others", async (_, path, failing, sees) => {
    const answer = (route: Route) =>
      failing.test(route.request().url()) ? refuse(route) : route.continue();
    await behind(answer, async (own) => {
      await visit(own, { name: "", path, sees });
      await own.locator("main [data-row]").first().waitFor();
      await pictures(own, `partly-${path.slice(1) || "home"}`);
    });
  });

  it("G10 what could not be read again stays, and is marked as old", async () => {
    let isBroken = false;
    const answer = (route: Route) => (isBroken ? refuse(route) : route.continue());
    await behind(answer, async (own) => {
      await visit(own, { name: "costs", path: "/costs", sees: "main [role=grid] [role=row]" });
      isBroken = true;
      await own.getByRole("button", { name: "Refresh" }).click();
      await own
        .getByText(/^Not up to date: The spending could not/)
        .first()
        .waitFor();
      expect(await own.locator("main [role=grid] [role=row]").count()).toBeGreaterThan(0);
      await pictures(own, "costs-stale");
      isBroken = false;
      await own.getByRole("button", { name: "Refresh" }).click();
      await own
        .getByText(/^Not up to date/)
        .first()
        .waitFor({ state: "detached" });
    });
  });

  it("G14 whoever may only look gets no refusal from any page", async () => {
    const { page: own, linkPath } = await viewer(browser, here);
    const refused: string[] = [];
    own.on("response", (response) => {
      if (response.status() === 403) refused.push(response.url());
    });
    await own.goto(`${here.url}${linkPath}`);
    await badge(own, "Live").waitFor();
    const sections = SECTIONS.map(({ id }) => ({ name: id, path: `/settings/${id}` }));
    for (const place of [...PLACES, ...sections]) {
      await go(own, { ...place, sees: "" });
      await own.locator("main h1").first().waitFor({ state: "attached" });
      await own.locator('main [data-shows="loading"]').first().waitFor({ state: "detached" });
      expect(refused, place.name).toEqual([]);
    }
    await own.context().close();
  });

  it("G8 without data each says why, and what to do", async () => {
    const { seeded: other, here: there } = await SeededServer.bare();
    bare = other;
    const { page: own } = await visitor(browser, { viewport: WIDE, colorScheme: "light" });
    await signIn(own, there, "/");
    await badge(own, "Live").waitFor();
    for (const place of PLACES) {
      await visit(own, { ...place, sees: NEVER_EMPTY[place.name] ?? '[data-shows="empty"]' });
      if (NEVER_EMPTY[place.name] === undefined) {
        await expectWayOn(own, place.name);
      }
      await pictures(own, `${place.name}-empty`);
    }
    for (const [name, path, title] of EMPTY_PARTS) {
      await go(own, { name, path, sees: "" });
      const at = path.startsWith("/settings")
        ? own.getByRole("heading", { name: new RegExp(`^${title}`) })
        : own.getByRole("tab", { name: title, selected: true });
      await at.first().waitFor();
      await own.locator('main [data-shows="empty"]').first().waitFor();
      await own.locator('main [data-shows="loading"]').first().waitFor({ state: "detached" });
      await expectWayOn(own, name);
      await pictures(own, `${name}-empty`);
    }
    await own.context().close();
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});

/** Somebody who may look and no more, and the link that lets them in. */
async function viewer(browser: Browser, { url, key }: World) {
  const response = await fetch(`${url}/api/v1/users`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": key },
    body: JSON.stringify({ name: "vic", role: "viewer" }),
  });
  const { data } = (await response.json()) as { data: Invitation };
  const { page } = await visitor(browser, { viewport: WIDE });
  return { page, linkPath: data.linkPath };
}

const never = () => {};
const refuse = (route: Route) => route.fulfill({ status: 500, json: FAILED });

/** Whatever its data do, a page keeps its heading and the way to all others. */
async function expectFrame(page: Page, { name }: Place): Promise<void> {
  await page.locator("main h1").first().waitFor({ state: "attached" });
  const links = await page.getByRole("navigation").first().getByRole("link").count();
  expect(links, name).toBeGreaterThan(8);
}

/** Every empty state in sight says why, has something to press that leads on, and names the command. */
async function expectWayOn(page: Page, name: string): Promise<void> {
  for (const empty of await page.locator('main [data-shows="empty"]').all()) {
    expect(await empty.locator("p").first().innerText(), name).toMatch(/\.$/);
    const ways = empty.locator("a, button, input, textarea, select");
    const copies = empty.getByRole("button", { name: "Copy", exact: true });
    const toPress = (await ways.count()) - (await copies.count());
    expect(toPress, `${name} has something to do`).toBeGreaterThan(0);
    expect(await empty.locator("code").count(), `${name} names the command`).toBeGreaterThan(0);
  }
}

/** A picture of the page; of all its looks if they were asked for. */
async function pictures(page: Page, name: string): Promise<void> {
  await picture(page, `state-${name}`);
  if (process.env.GODEL_TEST_ALL_LOOKS !== "1") return;
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, `state-${name}-dark`);
  await page.setViewportSize(PHONE);
  await picture(page, `state-${name}-dark-phone`);
  await page.emulateMedia({ colorScheme: "light" });
  await picture(page, `state-${name}-phone`);
  await page.setViewportSize(WIDE);
}

/** Runs in the page: nobody waits a second and two until something was tried three times. */
function hurry(): void {
  const wait = window.setTimeout;
  const isRetry = (ms: number | undefined) => ms === 1_000 || ms === 2_000;
  window.setTimeout = ((act: TimerHandler, ms?: number, ...words: unknown[]) =>
    wait(act, isRetry(ms) ? 10 : ms, ...words)) as typeof window.setTimeout;
}
