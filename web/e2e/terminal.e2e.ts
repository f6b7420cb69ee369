import type { Browser, Page, WebSocketRoute } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fileOf } from "./acts";
import {
  badge,
  barriers,
  chooseTheme,
  cutOff,
  openBrowser,
  picture,
  read,
  signIn,
  visitor,
  type World,
} from "./browser";
import { type Seed, SeededServer } from "./seed";

/** How many lines a command prints while its connection is cut again and again. */
const LINES = 20_000;

/** How long the log is that is longer than what a page reads of it. */
const LOG_LINES = 4_200;

/** A page of such a log, as the server answers. */
function pageOfLog(fields: URLSearchParams) {
  const end = Math.min(Number(fields.get("before")), LOG_LINES + 1);
  const start = Math.max(1, end - Number(fields.get("limit")));
  const items = Array.from({ length: end - start }, (_, at) => ({
    seq: start + at,
    at: "2026-11-16T10:00:00Z",
    type: "agent:text",
    payload: { text: `line ${start + at}` },
  }));
  return { items, previous: start > 1 ? start : null };
}

describe("X4 the terminal of an agent", () => {
  let seeded: SeededServer;
  let seed: Seed;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    ({ seeded, seed, here } = await SeededServer.start());
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser));
    await signIn(page, here, `/agents/${seed.busy}?tab=terminal&show=shell`);
    await badge(page, "Live").waitFor();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  const shell = (on: Page) => on.getByRole("region", { name: `Shell of ${seed.busy}` });
  const typeBox = (on: Page) => on.getByLabel(`Type into the shell of ${seed.busy}`);
  const type = async (on: Page, text: string) => {
    await typeBox(on).focus();
    await on.keyboard.type(text);
    await on.keyboard.press("Enter");
  };
  const textOf = (on: Page) => shell(on).innerText();
  const anotherVisitor = async (before?: (on: Page) => Promise<void>) => {
    const { page: own } = await visitor(browser);
    await before?.(own);
    await signIn(own, here, `/agents/${seed.busy}?tab=terminal&show=shell`);
    return own;
  };

  it("X4 a shell is opened when somebody wants one, and shows what is typed", async () => {
    await page.getByText(`Nobody has opened a terminal at ${seed.busy}.`).waitFor();
    await picture(page, "shell-none");
    await page.getByRole("button", { name: "Open a shell" }).click();
    await page.getByText("You have control").waitFor();
    await expect.poll(() => textOf(page)).toMatch(/[$#] $/m);
    await type(page, "echo sum $((40+2)); printf '\\033[32mgreen <b>bold</b>\\033[0m\\n'");
    await shell(page).getByText("sum 42").waitFor();
    // What comes from the shell is text: the marks of HTML are shown, and coloured by the shell.
    const green = shell(page).getByText("green <b>bold</b>", { exact: true });
    await expect
      .poll(() => green.evaluate((one) => getComputedStyle(one).color))
      .toBe("rgb(79, 199, 142)");
    expect(await shell(page).locator("b").count()).toBe(0);
    await picture(page, "shell-control");
  });

  it("X4 others only look until they take control, and everybody sees who has it", async () => {
    const own = await anotherVisitor();
    await shell(own).getByText("sum 42").waitFor();
    await own.getByText(/has control, you watch$/).waitFor();
    expect(await typeBox(own).count()).toBe(0);
    await picture(own, "shell-watch");
    await own.getByRole("button", { name: "Take control" }).click();
    const dialog = own.getByRole("dialog", { name: /^Take control from / });
    await picture(own, "shell-take");
    await dialog.getByRole("button", { name: "Take control" }).click();
    await own.getByText("You have control").waitFor();
    await page.getByText(/has control, you watch$/).waitFor();
    expect(await typeBox(page).count()).toBe(0);
    await type(own, "echo from the other");
    await expect.poll(() => textOf(page)).toMatch(/^from the other$/m);
    await own.getByRole("button", { name: "Release control" }).click();
    await page.getByText("Nobody has control, you watch").waitFor();
    await own.context().close();
    // Nobody has it, so nobody is asked; the key does the same as the button.
    await page.getByRole("heading", { name: seed.busy, exact: true }).click();
    await page.keyboard.press("t");
    await page.getByText("You have control").waitFor();
  });

  it("X4 keys reach the shell, and Ctrl+] leads out of it", async () => {
    await typeBox(page).focus();
    await page.keyboard.type("echo wrong words");
    // Kills the line in the shell, and opens no palette here.
    await page.keyboard.press("Control+u");
    await type(page, "echo right words");
    await expect.poll(() => textOf(page)).toMatch(/^right words$/m);
    expect(await textOf(page)).not.toMatch(/^wrong words$/m);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await textOf(page)).match(/^right words$/gm)?.length).toBe(2);
    await page.keyboard.press("Control+]");
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await expect.poll(focused).toBe("Release control");
  });

  it("X4 the shell is as wide as what shows it", async () => {
    const columns = async (mark: string) => {
      await type(page, `echo ${mark} $(stty size)`);
      const found = new RegExp(`^${mark} \\d+ (\\d+)$`, "m");
      await expect.poll(() => textOf(page)).toMatch(found);
      return Number(found.exec(await textOf(page))?.[1]);
    };
    const wide = await columns("wide");
    await page.setViewportSize({ width: 1000, height: 700 });
    await expect.poll(() => columns("narrow")).toBeLessThan(wide);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it("X4 a connection that breaks loses no byte and shows none twice", async () => {
    let cuts = 0;
    const asked: URLSearchParams[] = [];
    const own = await anotherVisitor(async (on) => {
      await on.routeWebSocket(/\/attach\?/, (route) => {
        asked.push(new URL(route.url()).searchParams);
        cutAfter(route, () => {
          cuts += 1;
          return cuts <= 5;
        });
      });
    });
    const reference = seeded.godel("agent", "attach", seed.busy, "--terminal", "--watch");
    // In pieces, so that there is something to come after each cut.
    const piece = LINES / 50;
    await type(
      page,
      `for i in $(seq 50); do seq $((i*${piece}-${piece - 1})) $((i*${piece})); sleep 0.1; done; echo all of it`,
    );
    await expect.poll(() => textOf(own)).toMatch(/^all of it$/m);
    await type(page, "exit");
    await own.getByText(/^The shell has ended/).waitFor();
    const expected = Buffer.from(await reference);
    const bytes = await rawOf(own);
    expect(asked.length).toBeGreaterThanOrEqual(4);
    for (const ask of asked.slice(1)) expect(ask.get("terminalId")).toBeTruthy();
    expect(bytes.length).toBe(expected.length);
    expect(bytes.equals(expected)).toBe(true);
    const shown = await own.locator("[data-bytes]").getAttribute("data-bytes");
    expect(Number(shown)).toBe(expected.length);
    const numbers = bytes.toString().match(/^\d+\r$/gm) ?? [];
    expect(numbers.length).toBe(LINES);
    await picture(own, "shell-ended");
    // Far from 20,000 lines are drawn, and one can read up while nothing moves.
    expect(await shell(own).locator("div > div > div").count()).toBeLessThan(200);
    await shell(own).hover();
    await own.mouse.wheel(0, -3_000);
    await shell(own).getByRole("button", { name: "Follow" }).click();
    await shell(own).getByText("all of it", { exact: true }).waitFor();
    await own.context().close();
  });

  it("X4 older lines of a long log come as one scrolls up, and few are drawn", async () => {
    const own = await anotherVisitor(async (on) => {
      // As many lines as no agent of a test says; the pages are cut as the server cuts them.
      await on.route(/\/logs\?before=/, async (route) => {
        const fields = new URL(route.request().url()).searchParams;
        const end = Math.min(5_001, Number(fields.get("before")));
        const first = Math.max(1, end - Number(fields.get("limit")));
        const items = Array.from({ length: end - first }, (_, at) => ({
          ...{ seq: first + at, at: "2026-11-15T10:00:00Z", type: "agent:text" },
          payload: { text: `said ${first + at}` },
        }));
        const previous = first > 1 ? first : null;
        await route.fulfill({ json: { success: true, data: { items, next: end - 1, previous } } });
      });
    });
    await own.goto(`${here.url}/dashboard/agents/${seed.inReview.agent}?tab=terminal`);
    const log = own.getByRole("log");
    const said = (line: number) => log.locator(`[data-seq="${line}"]`);
    await own.getByText("2,000 lines", { exact: true }).waitFor();
    await said(5000).waitFor();
    expect(await log.locator("[data-seq]").count()).toBeLessThan(200);
    await log.evaluate((box) => box.scrollTo(0, 100));
    await own.getByText("3,000 lines", { exact: true }).waitFor();
    // The reader stays at the line that was in sight.
    await said(3005).waitFor();
    for (const many of ["4,000", "5,000"]) {
      await log.evaluate((box) => box.scrollTo(0, 0));
      await own.getByText(`${many} lines`, { exact: true }).waitFor();
    }
    const toTop = async () => {
      await log.evaluate((box) => box.scrollTo(0, 0));
      return said(1).count();
    };
    await expect.poll(toTop).toBe(1);
    expect(await own.getByRole("button", { name: "Show older lines" }).count()).toBe(0);
    await own.getByRole("button", { name: "Follow", exact: true }).first().click();
    await said(5000).waitFor();
    await own.context().close();
  });

  it("X4 the log is followed until one scrolls up, searched, narrowed and taken away", async () => {
    await page.setViewportSize({ width: 1280, height: 520 });
    await page.goto(`${here.url}/dashboard/agents/${seed.inReview.agent}?tab=terminal`);
    const log = page.getByRole("log");
    await log
      .getByText(/is-committed/)
      .first()
      .waitFor();
    const follow = page.getByRole("button", { name: "Follow", exact: true }).first();
    expect(await follow.getAttribute("aria-pressed")).toBe("true");
    await log.hover();
    await page.mouse.wheel(0, -2_000);
    await expect.poll(() => follow.getAttribute("aria-pressed")).toBe("false");
    await follow.click();
    await expect.poll(() => follow.getAttribute("aria-pressed")).toBe("true");
    await picture(page, "log");
    const { items } = await read<{ items: { type: string }[] }>(
      here,
      `/api/v1/agents/${seed.inReview.agent}/logs?limit=500`,
    );
    await page.getByText(`${items.length} lines`, { exact: true }).waitFor();
    const tools = items.filter(({ type }) => /^agent:(tool:|output)/.test(type)).length;
    await page.getByLabel("Which lines").selectOption("tool");
    await page.getByText(new RegExp(`^${tools} lines?$`)).waitFor();
    await page.reload();
    await page.getByText(new RegExp(`^${tools} lines?$`)).waitFor();
    expect(await page.getByLabel("Which lines").inputValue()).toBe("tool");
    await page.getByLabel("Which lines").selectOption("");
    await page.getByRole("heading", { name: seed.inReview.agent, exact: true }).click();
    await page.keyboard.press("/");
    await page.keyboard.type("Says done");
    await page.getByText("1 line", { exact: true }).waitFor();
    await page.reload();
    await page.getByText("1 line", { exact: true }).waitFor();
    expect(await page.getByLabel("Search the log").inputValue()).toBe("Says done");
    await page.getByRole("button", { name: "Clear the filter" }).click();
    const times = log.locator("time");
    await expect.poll(() => times.count()).toBe(items.length);
    await page.getByRole("button", { name: "Times" }).click();
    await expect.poll(() => times.count()).toBe(0);
    await page.getByRole("button", { name: "Times" }).click();
    const raw = await rawOf(page);
    expect(
      raw
        .toString()
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual(items);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it("X4 the raw log is whole, though the page has read its end only", async () => {
    const own = await page.context().newPage();
    await own.route(/\/logs\?before=/, (route) => {
      const fields = new URL(route.request().url()).searchParams;
      return route.fulfill({ json: { success: true, data: pageOfLog(fields) } });
    });
    await own.goto(`${here.url}/dashboard/agents/${seed.busy}?tab=terminal&find=line`);
    await own.getByText("2,000 of the 2,000 lines read", { exact: true }).waitFor();
    await own.getByText(/so they are not searched/).waitFor({ state: "attached" });
    await picture(own, "log-limited");
    const lines = (await rawOf(own)).toString().trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).seq)).toEqual(
      Array.from({ length: LOG_LINES }, (_, at) => at + 1),
    );
    await own.close();
  });

  it("G18 nothing keeps people out of the shell, in either theme", async () => {
    await page.goto(`${here.url}/dashboard/agents/${seed.busy}?tab=terminal&show=shell`);
    await page.getByRole("button", { name: /^Open a (new )?shell$/ }).click();
    await page.getByText("You have control").waitFor();
    await type(
      page,
      "ls --color=always -la /; printf '\\033[38;5;17mdark\\033[44;34m on blue\\033[0m\\n'",
    );
    await shell(page).getByText("dark", { exact: true }).waitFor();
    expect(await barriers(page)).toEqual([]);
    for (const theme of ["light", "dark"] as const) {
      const own = await anotherVisitor((on) => chooseTheme(on, theme));
      await shell(own).getByText("dark", { exact: true }).waitFor();
      expect(await barriers(own), theme).toEqual([]);
      await picture(own, `shell-${theme}`);
      await own.setViewportSize({ width: 390, height: 800 });
      await picture(own, `shell-narrow-${theme}`);
      expect(await cutOff(own)).toEqual([]);
      await own.context().close();
    }
  });

  it("X4 a server that goes away and comes back is waited for", async () => {
    await seeded.server.kill();
    const panel = page.getByRole("tabpanel", { name: "Terminal" });
    await panel.getByText("Reconnecting", { exact: true }).waitFor();
    await seeded.server.start();
    await page.getByText("The shell has ended.").waitFor({ timeout: 60_000 });
    await page.getByRole("button", { name: "Open a new shell" }).waitFor();
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });

  /** Passes a connection on, and cuts it in the middle of what comes, for as long as it is wanted. */
  function cutAfter(route: WebSocketRoute, isWanted: () => boolean): void {
    const server = route.connectToServer();
    let frames = 0;
    route.onMessage((message) => server.send(message));
    server.onMessage((message) => {
      frames += 1;
      // The frame that the cut swallows is one that the page must get again.
      if (frames === 3 && isWanted()) {
        server.close();
        route.close({ code: 4000, reason: "cut" });
      } else route.send(message);
    });
  }

  async function rawOf(on: Page): Promise<Buffer> {
    return (await fileOf(on, () => on.getByRole("button", { name: "Raw" }).click())).bytes;
  }
});
