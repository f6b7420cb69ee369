import type { ReviewFile, ReviewFileLine, ReviewHunk, ReviewLine } from "../../api/types";

/** How many lines are shown at once when somebody wants to see more. */
export const STEP = 20;
/** How many lines around a change git shows by itself. */
const AROUND = 3;

/** Which lines of a gap are wanted: above the next hunk, below the one before, or all. */
export type Way = "up" | "down" | "all";

/** How many lines of a gap are shown: below the hunk before it, and above the next. */
export interface Shown {
  top: number;
  bottom: number;
}

/** What was read of one file besides its hunks. */
export interface Expanded {
  /** Lines of the new side, by their number. */
  lines: ReadonlyMap<number, ReviewFileLine>;
  /** How many lines the new side has, once it is known. */
  total: number | undefined;
  /** What is shown of each gap. */
  shown: ReadonlyMap<number, Shown>;
}

/** Lines that are the same on both sides and in no hunk, by their numbers on the new side. */
export interface Gap {
  /** 0 is above the first hunk, 1 below it. */
  at: number;
  first: number;
  /** Not known below the last hunk until the file was asked for. */
  last: number | undefined;
  /** What is added to a number for the same line on the old side. */
  toOld: number;
}

const firstOf = (start: number, length: number) => (length === 0 ? start + 1 : start);
const endOf = (start: number, length: number) => (length === 0 ? start : start + length - 1);

/** What lies around the hunks of a file; nothing if all of it is in them. */
export function gapsOf(file: ReviewFile, total?: number): Gap[] {
  const isPart = !file.binary && !file.cut && file.old != null && file.new != null;
  const last = file.hunks.at(-1);
  if (!isPart || file.status === "type_changed" || !last) return [];
  const gaps: Gap[] = [];
  let first = 1;
  for (const [at, hunk] of file.hunks.entries()) {
    const begin = firstOf(hunk.newStart, hunk.newLen);
    const toOld = firstOf(hunk.oldStart, hunk.oldLen) - begin;
    if (begin > first) gaps.push({ at, first, last: begin - 1, toOld });
    first = endOf(hunk.newStart, hunk.newLen) + 1;
  }
  const isOpen = total === undefined ? !isAtEnd(last) : total >= first;
  if (isOpen) {
    const toOld = endOf(last.oldStart, last.oldLen) - endOf(last.newStart, last.newLen);
    gaps.push({ at: file.hunks.length, first, last: total, toOld });
  }
  return gaps;
}

/** Git shows less around a change only where the file ends. */
function isAtEnd({ lines }: ReviewHunk): boolean {
  const after = lines.length - 1 - lines.findLastIndex((line) => line.kind !== "context");
  return after < AROUND || lines.some((line) => line.noNewline === true);
}

/** How many lines of a gap are not shown; nothing if nobody knows yet. */
export function hiddenIn({ first, last }: Gap, shown: Shown | undefined): number | undefined {
  if (last === undefined) return undefined;
  return Math.max(0, last - first + 1 - (shown?.top ?? 0) - (shown?.bottom ?? 0));
}

/** The lines to read next, and whether they go below what is shown at the top. */
export function wanted(
  gap: Gap,
  shown: Shown | undefined,
  way: Way,
): { from: number; to: number; isTop: boolean } | undefined {
  const from = gap.first + (shown?.top ?? 0);
  const to = gap.last === undefined ? Number.POSITIVE_INFINITY : gap.last - (shown?.bottom ?? 0);
  if (from > to) return undefined;
  if (way === "down") return { from, to: Math.min(to, from + STEP - 1), isTop: true };
  if (way === "all" || gap.last === undefined) return { from, to, isTop: true };
  return { from: Math.max(from, to - STEP + 1), to, isTop: false };
}

/** Lines of a gap as they stand in the diff: the same on both sides, each with its own number. */
export function shownLines(
  gap: Gap,
  expanded: Expanded | undefined,
): { above: ReviewLine[]; below: ReviewLine[] } {
  const shown = expanded?.shown.get(gap.at);
  if (!expanded || !shown) return { above: [], below: [] };
  const read = (from: number, count: number): ReviewLine[] =>
    Array.from({ length: count }, (_, index) => expanded.lines.get(from + index)).flatMap((line) =>
      line === undefined
        ? []
        : [
            {
              kind: "context",
              text: line.text,
              lossy: line.lossy ?? false,
              noNewline: line.noNewline ?? false,
              old: line.number + gap.toOld,
              new: line.number,
              at: null,
            },
          ],
    );
  const bottom = gap.last === undefined ? 0 : shown.bottom;
  return {
    above: read(gap.first, shown.top),
    below: read((gap.last ?? 0) - bottom + 1, bottom),
  };
}

/** The same with lines that were read. */
export function withLines(
  known: Expanded | undefined,
  { at }: Gap,
  read: { lines: readonly ReviewFileLine[]; total: number; isTop: boolean },
): Expanded {
  const lines = new Map(known?.lines);
  for (const line of read.lines) lines.set(line.number, line);
  const before = known?.shown.get(at) ?? { top: 0, bottom: 0 };
  const count = read.lines.length;
  const after = read.isTop
    ? { ...before, top: before.top + count }
    : { ...before, bottom: before.bottom + count };
  return { lines, total: read.total, shown: new Map(known?.shown).set(at, after) };
}
