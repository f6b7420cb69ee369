import type { Page } from "playwright-core";

/** What the page notes down about itself. */
export interface Noted {
  /** The time between two frames, the longest one. */
  longestFrame: number;
  frames: number;
  /** Frames that took longer than 50 ms. */
  slowFrames: number;
  /** Tasks that kept the page busy for more than 50 ms, and the longest one. */
  longTasks: number;
  longestTask: number;
  /** From an input to the next paint: 98 of 100 are faster, and the slowest. */
  inputs: number;
  inputP98: number;
  inputMost: number;
  /** How much things moved by themselves (CLS). */
  shift: number;
  /** What moved most of all, and where to. */
  moved: string | undefined;
}

/** What the page notes about how it was opened. */
export interface Opened {
  firstPaint: number | undefined;
  firstRow: number | undefined;
  shift: number;
  moved: string | undefined;
}

/** One move of things that nobody asked for. */
interface Shift {
  value: number;
  what: string;
}

interface Notes {
  gaps: number[];
  tasks: number[];
  inputs: number[];
  shifts: Shift[];
  firstRow: number | undefined;
}

declare global {
  interface Window {
    benchNotes: Notes;
  }
}

/** Runs in the page before anything else; `row` is what shows that data is there. */
function watch(row: string): void {
  const notes: Notes = { gaps: [], tasks: [], inputs: [], shifts: [], firstRow: undefined };
  window.benchNotes = notes;
  let before = performance.now();
  const frame = (now: number) => {
    notes.gaps.push(now - before);
    before = now;
    // What is in the page when a frame begins was painted with the one before it at the earliest.
    if (notes.firstRow === undefined && document.querySelector(row)) notes.firstRow = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  const observe = (type: string, take: (entry: PerformanceEntry) => void, more = {}) => {
    const observer = new PerformanceObserver((list) => list.getEntries().forEach(take));
    observer.observe({ type, buffered: true, ...more });
  };
  observe("longtask", ({ duration }) => notes.tasks.push(duration));
  observe("layout-shift", (entry) => {
    const { value, hadRecentInput, sources } = entry as PerformanceEntry & {
      value: number;
      hadRecentInput: boolean;
      sources: readonly { node?: Node; previousRect: DOMRect; currentRect: DOMRect }[];
    };
    if (hadRecentInput) return;
    // The first one has the largest part of it.
    const [most] = sources;
    const place = ({ x, y, width, height }: DOMRect) => `${x},${y} ${width}x${height}`;
    const what = most
      ? `${nameOf(most.node)} from ${place(most.previousRect)} to ${place(most.currentRect)}`
      : "nothing that is still there";
    notes.shifts.push({ value, what });
  });
  function nameOf(node: Node | undefined): string {
    const element = node instanceof Element ? node : node?.parentElement;
    if (!element) return "something that is gone";
    const text = element.textContent?.trim().slice(0, 24) ?? "";
    return `${element.tagName.toLowerCase()}.${element.className} "${text}"`;
  }
  const typed = ["keydown", "input", "click", "pointerdown"];
  observe("event", ({ name, duration }) => typed.includes(name) && notes.inputs.push(duration), {
    durationThreshold: 16,
  });
}

export async function install(page: Page, row: string): Promise<void> {
  await page.addInitScript(watch, row);
}

/** Begins anew: what was noted so far belongs to something else. */
export async function forget(page: Page): Promise<void> {
  await page.evaluate(() => {
    const { benchNotes: notes } = window;
    for (const list of [notes.gaps, notes.tasks, notes.inputs, notes.shifts]) list.length = 0;
  });
}

/** What was noted; inputs that took less than a frame are not told to the page, so they are counted here. */
export async function noted(page: Page, inputs: number): Promise<Noted> {
  const notes = await page.evaluate(() => window.benchNotes);
  const slow = notes.inputs.toSorted((a, b) => b - a);
  // The browser tells of an input by up to three events; the count of those made is the base.
  return {
    longestFrame: Math.max(0, ...notes.gaps),
    frames: notes.gaps.length,
    slowFrames: notes.gaps.filter((gap) => gap > 50).length,
    longTasks: notes.tasks.length,
    longestTask: Math.max(0, ...notes.tasks),
    inputs,
    inputP98: slow[Math.floor(Math.max(inputs, slow.length) * 0.02)] ?? 16,
    inputMost: slow[0] ?? 16,
    ...sumOf(notes.shifts),
  };
}

export async function opened(page: Page): Promise<Opened> {
  const { firstPaint, firstRow, shifts } = await page.evaluate(() => ({
    firstPaint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
    firstRow: window.benchNotes.firstRow,
    shifts: window.benchNotes.shifts,
  }));
  return { firstPaint, firstRow, ...sumOf(shifts) };
}

/** All moves together, and the one that counts most. */
function sumOf(shifts: readonly Shift[]): Pick<Noted, "shift" | "moved"> {
  const [most] = shifts.toSorted((a, b) => b.value - a.value);
  const shift = shifts.reduce((sum, { value }) => sum + value, 0);
  return { shift, moved: most && `${most.value.toFixed(3)} by ${most.what}` };
}
