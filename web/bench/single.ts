import type { Page } from "playwright-core";
import { BARS, type Bench, openPage, settled } from "./measure";
import { forget, noted } from "./probe";
import type { Row } from "./report";

/** Numbers that are no page's own: a filter, the palette, what is long. */
export async function measureSingles(bench: Bench): Promise<Row[]> {
  const beads = await openPage(bench, "/beads", "main [data-row]");
  await settled(beads);
  const rows = [await filterOf(beads), await paletteOf(beads)];
  await beads.context().close();
  rows.push(await longReview(bench), ...(await longSession(bench)));
  return rows;
}

/** From a text that is put into the field to the paint of the lines that it leaves. */
async function filterOf(page: Page): Promise<Row> {
  const field = page.locator("main [role=combobox]").first();
  const times: number[] = [];
  for (const text of ["login", "costs", "review", "docs", "blocked:yes"]) {
    await field.fill("");
    await page.waitForTimeout(400);
    await field.focus();
    await watch(page, "input", "main [aria-rowcount]", "aria-rowcount");
    await page.keyboard.insertText(text);
    times.push(await took(page));
  }
  return {
    part: "filter",
    what: "10,000 beads, from the input to the paint, worst of 5",
    value: Math.max(...times),
    unit: "ms",
    below: BARS.filter,
    note: times.map((time) => time.toFixed(0)).join(", "),
  };
}

/** From the key to the paint of the palette. */
async function paletteOf(page: Page): Promise<Row> {
  const times: number[] = [];
  for (let time = 0; time < 5; time += 1) {
    await page.locator("body").click({ position: { x: 640, y: 4 } });
    await watch(page, "keydown", "dialog[open]", "open");
    await page.keyboard.press("Control+k");
    times.push(await took(page));
    await page.keyboard.press("Escape");
    await page.waitForTimeout(200);
  }
  const sorted = times.toSorted((a, b) => a - b);
  return {
    part: "palette",
    what: "from the key to the paint, median of 5",
    value: sorted[2],
    unit: "ms",
    below: BARS.palette,
    note: times.map((time) => time.toFixed(0)).join(", "),
  };
}

/** A file of 5,000 lines is scrolled from its beginning to its end and back. */
async function longReview(bench: Bench): Promise<Row> {
  const path = `/review/${encodeURIComponent(bench.seeded.longReview)}`;
  const page = await openPage(bench, path, "main [data-line]");
  return scrolled(
    page,
    "review",
    "a file of 5,000 lines is scrolled, longest frame",
    "[data-line]",
  );
}

/** A session of many nodes is unfolded and scrolled. */
async function longSession(bench: Bench): Promise<Row[]> {
  const page = await openPage(bench, `/agents/${bench.seeded.talker}?tab=session`, "[data-node]");
  await page.getByRole("button", { name: "Unfold all" }).click();
  const tree = page.getByRole("list", { name: "Session tree" });
  const nodes = await tree.getAttribute("data-lines");
  const what = `a tree of ${nodes} nodes is scrolled, longest frame`;
  return [
    // A tree that is smaller than what is promised would tell nothing.
    { part: "session", what: "nodes of the tree", value: Number(nodes), unit: "", least: 2_000 },
    await scrolled(page, "session", what, "[data-node]"),
  ];
}

async function scrolled(page: Page, part: string, what: string, row: string): Promise<Row> {
  await settled(page);
  const box = await page.locator(row).nth(2).boundingBox();
  await page.mouse.move((box?.x ?? 600) + 20, Math.min(700, (box?.y ?? 400) + 4));
  await forget(page);
  let most = 0;
  for (let turn = 0; turn < 120; turn += 1) {
    await page.mouse.wheel(0, turn < 80 ? 1_500 : -2_000);
    await page.waitForTimeout(30);
    if (turn % 20 === 0) most = Math.max(most, await page.locator(row).count());
  }
  const { longestFrame, slowFrames, frames } = await noted(page, 0);
  await page.context().close();
  const note = `${slowFrames} of ${frames} over 50 ms; at most ${most} lines drawn`;
  return { part, what, value: longestFrame, unit: "ms", below: BARS.frame, note };
}

/** Notes when, after an event, an attribute of something differs from now and was painted. */
async function watch(page: Page, event: string, what: string, attribute: string): Promise<void> {
  await page.evaluate(
    ({ event, what, attribute }) => {
      const now = () => document.querySelector(what)?.getAttribute(attribute);
      const before = now();
      const watched = window as unknown as { benchTook: Promise<number> };
      watched.benchTook = new Promise((resolve) => {
        const begin = ({ timeStamp }: Event) => {
          const look = () => {
            if (now() === before) return requestAnimationFrame(look);
            // What is in the page when a frame begins is on the screen when the task after it runs.
            const channel = new MessageChannel();
            channel.port1.onmessage = () => resolve(performance.now() - timeStamp);
            return channel.port2.postMessage(0);
          };
          requestAnimationFrame(look);
        };
        window.addEventListener(event, begin, { capture: true, once: true });
      });
    },
    { event, what, attribute },
  );
}

function took(page: Page): Promise<number> {
  return page.evaluate(() => (window as unknown as { benchTook: Promise<number> }).benchTook);
}
