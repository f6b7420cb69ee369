import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBrowser, picture, visitor, type World, world } from "./browser";

const METHODS = ["get", "post", "put", "patch", "delete", "head", "options", "trace"];

type PathItem = Record<string, { responses?: object }>;

describe("the API reference", () => {
  let here: World;
  let browser: Browser;

  beforeAll(async () => {
    here = world();
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it("shows every operation, each with its answers and an example", async () => {
    const { page, problems } = await visitor(browser);
    await page.goto(`${here.url}/docs`);
    await page.locator("article[id]").first().waitFor();
    const shown = await page
      .locator("article[id] h3")
      .evaluateAll((all) =>
        all.map((title) => [...title.children].slice(0, 2).map((part) => part.textContent)),
      );
    const operations = await described(here);
    expect(shown.map((words) => words.join(" ")).sort()).toEqual(Object.keys(operations).sort());
    const plain = page.locator("article[id]", { hasNotText: "Answers" });
    expect(await plain.count()).toBe(0);
    // Every call can be made with curl, except that of a socket.
    const calls = Object.values(operations).filter((answers) => !answers.includes("101"));
    expect(await page.locator("article .example code").count()).toBe(calls.length);
    await picture(page, "docs");
    expect(problems).toEqual([]);
  });

  it("works from the server alone", async () => {
    const { page, problems } = await visitor(browser, { colorScheme: "dark" });
    const foreign: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(here.url)) foreign.push(request.url());
    });
    await page.goto(`${here.url}/docs`);
    await page.getByLabel("Filter").fill("/events");
    await page.getByText("/api/v1/events", { exact: false }).first().waitFor();
    await picture(page, "docs-dark");
    expect(foreign).toEqual([]);
    expect(problems).toEqual([]);
  });

  it("fits a narrow screen", async () => {
    const { page } = await visitor(browser, { viewport: { width: 400, height: 800 } });
    await page.goto(`${here.url}/docs`);
    await page.locator("article[id]").first().waitFor();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(400);
    await picture(page, "docs-narrow");
  });
});

/** The operations of the server's description, `GET /api/v1/events`, with their answers. */
async function described(here: World): Promise<Record<string, string[]>> {
  const response = await fetch(`${here.url}/api/v1/openapi.json`);
  const { paths } = (await response.json()) as { paths: Record<string, PathItem> };
  return Object.fromEntries(
    Object.entries(paths).flatMap(([path, item]) =>
      METHODS.flatMap((method) => {
        const answers = item[method]?.responses;
        return answers ? [[`${method.toUpperCase()} ${path}`, Object.keys(answers)]] : [];
      }),
    ),
  );
}
