import { describe, expect, it } from "vitest";
import { fakeFile, fakeHunk } from "../../../tests/fakeReview";
import { gapsOf, hiddenIn, shownLines, wanted, withLines } from "./expand";
import { type Look, rowsOf } from "./rows";

const side = { mode: "100644", id: "1" };
const around = [" a", " b", " c", "-d", "+e", "+f", " g", " h", " i"];
/** Lines 11 to 18 became 11 to 19, and 101 to 108 became 102 to 110. */
const file = fakeFile({
  old: side,
  new: side,
  hunks: [
    fakeHunk(around, { key: "h1", oldStart: 11, oldLen: 7, newStart: 11, newLen: 8 }),
    fakeHunk(around, {
      key: "h2",
      number: 2,
      oldStart: 101,
      oldLen: 7,
      newStart: 102,
      newLen: 8,
    }),
  ],
});
const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => ({ number: from + at, text: `${from + at}` }));
const LOOK: Look = {
  isSplit: false,
  hidesSpace: false,
  isFolded: () => false,
  comments: [],
  edits: new Map(),
  editing: undefined,
  composing: undefined,
};

describe("what lies between hunks", () => {
  it("has the numbers of both sides", () => {
    expect(gapsOf(file)).toEqual([
      { at: 0, first: 1, last: 10, toOld: 0 },
      { at: 1, first: 19, last: 101, toOld: -1 },
      { at: 2, first: 110, last: undefined, toOld: -2 },
    ]);
    expect(gapsOf(file, 112)[2]?.last).toBe(112);
    expect(gapsOf(file, 109)).toHaveLength(2);
  });

  it("is nothing where the file ends or has one side only", () => {
    const hunk = fakeHunk([" a", "-b", "+c", " d"]);
    expect(gapsOf(fakeFile({ old: side, new: side, hunks: [hunk] }))).toEqual([]);
    expect(gapsOf({ ...file, old: null })).toEqual([]);
    expect(gapsOf({ ...file, cut: true })).toEqual([]);
  });

  it("counts from the line that an empty side follows", () => {
    const came = fakeHunk(["+x", "+y"], { oldStart: 5, oldLen: 0, newStart: 6, newLen: 2 });
    expect(gapsOf(fakeFile({ old: side, new: side, hunks: [came] }), 9)).toEqual([
      { at: 0, first: 1, last: 5, toOld: 0 },
      { at: 1, first: 8, last: 9, toOld: -2 },
    ]);
  });
});

describe("showing more", () => {
  const gap = gapsOf(file)[1];
  if (!gap) throw new Error("no gap");

  it("goes down from the hunk before, up from the next, or takes all", () => {
    expect(wanted(gap, undefined, "down")).toEqual({ from: 19, to: 38, isTop: true });
    expect(wanted(gap, undefined, "up")).toEqual({ from: 82, to: 101, isTop: false });
    const shown = { top: 20, bottom: 20 };
    expect(wanted(gap, shown, "all")).toEqual({ from: 39, to: 81, isTop: true });
    expect(wanted(gap, { top: 83, bottom: 0 }, "down")).toBeUndefined();
  });

  it("puts lines between the hunks with the number of each side", () => {
    const down = withLines(undefined, gap, { lines: lines(19, 20), total: 120, isTop: true });
    const both = withLines(down, gap, { lines: lines(100, 101), total: 120, isTop: false });
    expect(hiddenIn(gap, both.shown.get(1))).toBe(79);
    const { above, below } = shownLines(gap, both);
    expect(above.map(({ old, new: now }) => [old, now])).toEqual([
      [18, 19],
      [19, 20],
    ]);
    expect(below.map(({ old, new: now }) => [old, now])).toEqual([
      [99, 100],
      [100, 101],
    ]);
    const expanded = new Map([[file.path, both]]);
    for (const isSplit of [false, true]) {
      const { rows } = rowsOf([file], { ...LOOK, isSplit, expanded });
      const at = rows.findIndex((row) => row.kind === "hunk" && row.hunk.key === "h2");
      expect(rows.slice(at - 4, at + 3).map(({ kind }) => kind)).toEqual([
        ...["line", "line", "line", "expand", "hunk", "line", "line"],
      ]);
      const bars = rows.filter((row) => row.kind === "expand").map(({ at: gapAt }) => gapAt);
      expect(bars).toEqual([0, 1, 2]);
      expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
    }
  });

  it("leaves no bar when all is shown", () => {
    const all = withLines(undefined, gap, { lines: lines(19, 101), total: 109, isTop: true });
    const { rows } = rowsOf([file], { ...LOOK, expanded: new Map([[file.path, all]]) });
    expect(rows.filter((row) => row.kind === "expand")).toHaveLength(1);
  });
});
