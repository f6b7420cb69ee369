import type { Browser, BrowserContext, Page } from "playwright-core";
import { account, visitor, type World } from "../e2e/browser";
import { Load, type Loaded } from "./load";
import type { Options } from "./options";
import type { BenchPage, Totals } from "./pages";
import { forget, install, type Noted, noted, type Opened, opened } from "./probe";
import type { Row } from "./report";
import type { Say, Seeded } from "./seed";

/** The bars of `docs/benchmarks.md`. */
export const BARS = {
  firstPaint: 1_000,
  frame: 200,
  input: 100,
  rows: 200,
  filter: 150,
  palette: 50,
  shift: 0.02,
  /** The share of the events that must have come about; else the load was another one. */
  rate: 0.9,
};

export interface Bench {
  browser: Browser;
  here: World;
  seeded: Seeded;
  options: Options;
  /** Who is signed in; every page is opened by a visitor whose cache is cold. */
  state: Awaited<ReturnType<BrowserContext["storageState"]>>;
  say: Say;
}

const OPENINGS = 3;
const QUIET_MS = 8_000;
/** How long the page may take to catch up when the load is over. */
const SETTLE_MS = 15_000;
const VIEW = { width: 1280, height: 800 };

/** Opens a page as somebody whose browser has never been here, but who is signed in. */
export async function openPage(
  { browser, here, state }: Pick<Bench, "browser" | "here" | "state">,
  path: string,
  row: string,
): Promise<Page> {
  const { page } = await visitor(browser, { storageState: state, viewport: VIEW });
  await install(page, row);
  await page.goto(`${here.url}/dashboard${path}`);
  await account(page).waitFor();
  await page.locator(row).first().waitFor({ timeout: 60_000 });
  return page;
}

/** Waits until everything that the page asks for at first is there: long lists come in many parts. */
export async function settled(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle", { timeout: 60_000 });
  await page.waitForTimeout(1_000);
}

/** All numbers of one page. */
export async function measurePage(bench: Bench, of: BenchPage): Promise<Row[]> {
  const part = of.id;
  const rows: Row[] = await openings(bench, of);
  const page = await openPage(bench, of.path, of.row);
  const heap = await heapOf(page);
  await settled(page);
  bench.say(`${part}: ${QUIET_MS / 1_000} s without events`);
  const quiet = await use(page, of, QUIET_MS);
  const before = await heap();
  const load = new Load(bench.here, bench.seeded, bench.options.eventsPerSecond);
  bench.say(`${part}: ${bench.options.seconds} s with ${bench.options.eventsPerSecond} events/s`);
  let requests = 0;
  page.on("request", () => {
    requests += 1;
  });
  await load.start();
  const busy = await use(page, of, bench.options.seconds * 1_000);
  const drawn = await page.locator(of.rows).count();
  const loaded = await load.stop();
  const asked = requests / loaded.seconds;
  const after = await heap();
  rows.push(...underLoad(part, busy, quiet, loaded, bench.options));
  rows.push({ part, what: "requests of the page", value: asked, unit: "/s" });
  rows.push({ part, what: "rows in the document", value: drawn, unit: "", below: BARS.rows });
  rows.push({
    part,
    what: "JavaScript heap after the load",
    value: after,
    unit: "MB",
    note: `${before.toFixed(1)} MB before`,
  });
  rows.push(await agreement(bench, page, of));
  await page.context().close();
  return rows;
}

/** How soon something is there for who opens the page with a cold cache. */
async function openings(bench: Bench, of: BenchPage): Promise<Row[]> {
  const all: Opened[] = [];
  for (let time = 0; time < OPENINGS; time += 1) {
    const page = await openPage(bench, of.path, of.row);
    await page.waitForTimeout(500);
    all.push(await opened(page));
    await page.context().close();
  }
  const worst = (pick: (one: Opened) => number | undefined) =>
    Math.max(...all.map((one) => pick(one) ?? Number.NaN));
  const part = of.id;
  const jumpy = all.toSorted((a, b) => b.shift - a.shift)[0]?.moved;
  return [
    {
      part,
      what: "first paint, worst of 3",
      value: worst(({ firstPaint }) => firstPaint),
      unit: "ms",
      below: BARS.firstPaint,
    },
    { part, what: "first data, worst of 3", value: worst(({ firstRow }) => firstRow), unit: "ms" },
    {
      part,
      what: "layout shift while opening, worst of 3",
      value: worst(({ shift }) => shift),
      unit: "",
      below: BARS.shift,
      ...(jumpy !== undefined && { note: jumpy }),
    },
  ];
}

/** Uses the page as somebody in a hurry: scrolls all the time, and types and deletes again. */
async function use(page: Page, of: BenchPage, forMs: number): Promise<Noted> {
  await forget(page);
  const end = Date.now() + forMs;
  let inputs = 0;
  for (let round = 0; Date.now() < end; round += 1) {
    await page.mouse.move(700, 520);
    for (let turn = 0; turn < 4; turn += 1) {
      await page.mouse.wheel(0, round % 4 < 3 ? 400 : -1_200);
      await page.waitForTimeout(80);
    }
    const field = of.field && page.locator(of.field).first();
    if (!field) continue;
    await field.click();
    for (const letter of of.typed) {
      await page.keyboard.press(letter);
      await page.waitForTimeout(40);
    }
    await page.waitForTimeout(200);
    for (const _ of of.typed) await page.keyboard.press("Backspace");
    inputs += 1 + 2 * of.typed.length;
  }
  return noted(page, inputs);
}

function underLoad(
  part: string,
  busy: Noted,
  quiet: Noted,
  { events, seconds, refused, beads }: Loaded,
  { eventsPerSecond }: Options,
): Row[] {
  const ms = (value: number) => `${value.toFixed(0)} ms without events`;
  const inputs: Row[] = [
    {
      part,
      what: "input to paint, 98 of 100",
      value: busy.inputP98,
      unit: "ms",
      below: BARS.input,
      note: `${busy.inputs} inputs, slowest ${busy.inputMost} ms; ${ms(quiet.inputP98)}`,
    },
  ];
  return [
    {
      part,
      what: "events while it was measured",
      value: events / seconds,
      unit: "/s",
      least: BARS.rate * eventsPerSecond,
      note: `${(beads / seconds).toFixed(0)} changes of beads/s among them; ${refused} refused`,
    },
    {
      part,
      what: "longest frame",
      value: busy.longestFrame,
      unit: "ms",
      below: BARS.frame,
      note: `${busy.slowFrames} of ${busy.frames} over 50 ms; ${ms(quiet.longestFrame)}`,
    },
    {
      part,
      what: "longest task",
      value: busy.longestTask,
      unit: "ms",
      note: `${busy.longTasks} over 50 ms; ${ms(quiet.longestTask)}`,
    },
    ...(busy.inputs > 0 ? inputs : []),
    {
      part,
      what: "layout shift",
      value: busy.shift,
      unit: "",
      below: BARS.shift,
      ...(busy.moved !== undefined && { note: busy.moved }),
    },
  ];
}

/** How many sums of the page differ from those of the API, when nothing happens any more. */
async function agreement({ here, say }: Bench, page: Page, of: BenchPage): Promise<Row> {
  const deadline = Date.now() + SETTLE_MS;
  let wrong: string[] = [];
  let told: Totals = {};
  do {
    await page.mouse.move(2, 2);
    await page.waitForTimeout(1_000);
    const shown = await of.shown(page);
    told = await of.told(here);
    wrong = differences(shown, told);
  } while (wrong.length > 0 && Date.now() < deadline);
  for (const line of wrong) say(`${of.id}: ${line}`);
  return {
    part: of.id,
    what: "sums that differ from the API at the end",
    value: wrong.length,
    unit: "",
    exactly: 0,
    note: `${Object.keys(told).length} compared`,
  };
}

export function differences(shown: Totals, told: Totals): string[] {
  return [...new Set([...Object.keys(shown), ...Object.keys(told)])]
    .filter((name) => (shown[name] ?? 0) !== (told[name] ?? 0))
    .map((name) => `${name}: the page says ${shown[name]}, the API ${told[name]}`);
}

/** Reads how much memory the page's own things take, without what nobody needs any more. */
async function heapOf(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  return async () => {
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    return usedSize / 1_000_000;
  };
}
