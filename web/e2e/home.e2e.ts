import type { Browser, Page, WebSocketRoute } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  account,
  badge,
  openBrowser,
  picture,
  publish,
  rows,
  signInWithKey,
  signOut,
  visitor,
  type World,
  world,
} from "./browser";

const RUN = Date.now().toString(36);

describe("the first visit", () => {
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let sockets: WebSocketRoute[];

  beforeAll(async () => {
    here = world();
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser));
    sockets = [];
    await page.routeWebSocket(/\/events$/, (socket) => {
      socket.connectToServer();
      sockets.push(socket);
    });
  });
  afterAll(() => browser?.close());

  const row = (text: string) => rows(page, text);

  it("a login link lets the owner in and leaves the address bar", async () => {
    await page.goto(here.loginUrl);
    await account(page).waitFor();
    expect(page.url()).not.toContain("token");
    expect(await page.evaluate(() => window.location.hash)).toBe("");
    await badge(page, "Live").waitFor();
    await page
      .getByRole("region", { name: "Server health" })
      .getByText(/^(Healthy|Degraded)$/)
      .waitFor();
    await picture(page, "home");
  });

  it("the session cookie is out of reach of scripts", async () => {
    expect(await page.evaluate(() => document.cookie)).toBe("");
  });

  it("a published event appears without a reload", async () => {
    await publish(here, "demo:hello", { run: RUN });
    await row(RUN).first().waitFor();
    await row(RUN).first().click();
    await page.getByRole("button", { name: "Copy event" }).waitFor();
    await picture(page, "event");
    await row(RUN).first().click();
    await page.mouse.move(5, 5);
  });

  it("a dropped connection resumes, each event once and in order", async () => {
    const before = sockets.length;
    for (const socket of sockets) await socket.close({ code: 1001 });
    for (const step of [1, 2, 3]) await publish(here, "demo:away", { mark: `${RUN}-away-${step}` });
    await badge(page, "Live").waitFor();
    await row(`${RUN}-away-1`).waitFor();
    expect(sockets.length).toBeGreaterThan(before);
    const texts = await row(`${RUN}-away`).allInnerTexts();
    expect(texts.map((text) => /away-(\d)/.exec(text)?.[1])).toEqual(["3", "2", "1"]);
  });

  it("the filter narrows the stream and survives a reload", async () => {
    await publish(here, "other:hello", { mark: `${RUN}-other` });
    await row(`${RUN}-other`).waitFor();
    await page.getByLabel("Filter by type pattern").fill("demo:*");
    await row(`${RUN}-other`).waitFor({ state: "detached" });
    await page.reload();
    await row(`${RUN}-away-1`).waitFor();
    await publish(here, "other:hello", { mark: `${RUN}-unseen` });
    await publish(here, "demo:hello", { mark: `${RUN}-seen` });
    await row(`${RUN}-seen`).waitFor();
    expect(await row(`${RUN}-unseen`).count()).toBe(0);
    expect(await row(`${RUN}-other`).count()).toBe(0);
  });

  it("fits a narrow screen", async () => {
    await page.setViewportSize({ width: 400, height: 800 });
    await page.waitForTimeout(200);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(400);
    await picture(page, "narrow");
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });

  it("signing out ends the session", async () => {
    await signOut(page);
    await page.reload();
    await page.getByLabel("Password", { exact: true }).waitFor();
  });
});

describe("the second visit", () => {
  let here: World;
  let browser: Browser;

  beforeAll(async () => {
    here = world();
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it("the same login link is refused with a clear sentence", async () => {
    const { page } = await visitor(browser, { colorScheme: "dark" });
    await page.goto(here.loginUrl);
    const alert = page.getByRole("alert");
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/^[A-Z].{10,}[.!?]/);
    expect(page.url()).not.toContain("token");
    expect(await account(page).count()).toBe(0);
    await picture(page, "link-refused");
  });

  it("a wrong key is refused, the owner key is not", async () => {
    const { page, problems } = await visitor(browser, { colorScheme: "dark" });
    await page.goto(`${here.url}/dashboard/`);
    await signInWithKey(page, "not-the-key");
    await page.getByRole("alert").waitFor();
    await signInWithKey(page, here.key);
    await account(page).waitFor();
    await badge(page, "Live").waitFor();
    await picture(page, "home-dark");
    expect(problems).toEqual([]);
  });
});
