import { describe, expect, it } from "vitest";
import type { TalkNode } from "../../../api/types";
import {
  compare,
  costOf,
  foldsWith,
  leavesOf,
  linesOf,
  summaryOf,
  tally,
  treeOf,
  wayTo,
} from "./tree";

function node(number: number, parent: number | null, kind = "call"): TalkNode {
  return { number, parent, kind, text: `${kind} ${number}` };
}

const chain = (many: number) =>
  Array.from({ length: many }, (_, at) => node(at, at === 0 ? null : at - 1));

/** 0 user, 1..5 in a row; at 3 a branch 6, 7; main goes on to 5. */
const FORKED = [
  node(0, null, "user"),
  node(1, 0),
  node(2, 1, "result"),
  node(3, 2, "model"),
  node(4, 3),
  node(5, 4, "result"),
  node(6, 3, "user"),
  node(7, 6, "model"),
];
const TALK = { branch: "main", branches: { main: 5, other: 7 }, saves: { before: 3 } };
const tree = treeOf(TALK, FORKED, [
  { id: "s1", node: 5 },
  { id: "s2", node: null },
  { id: "s3", node: 99 },
]);

describe("the tree of a conversation", () => {
  it("knows ends, marks and the way that is chosen", () => {
    expect(tree.head).toBe(5);
    expect([...tree.live]).toEqual([0, 1, 2, 3, 4, 5]);
    expect(tree.marks.get(5)).toEqual({ branches: ["main"], saves: [], snapshots: ["s1"] });
    expect(tree.marks.get(3)?.saves).toEqual(["before"]);
    expect(leavesOf(tree)).toEqual([5, 7]);
    expect(wayTo(tree, 7)).toEqual([0, 1, 2, 3, 6, 7]);
  });

  it("lives with an empty conversation, a circle and a branch without nodes", () => {
    const none = treeOf({ branch: "main", branches: { main: null }, saves: {} }, [], []);
    expect(none.head).toBeUndefined();
    expect(linesOf(none, new Set())).toEqual([]);
    const circle = treeOf(TALK, [node(0, 1), node(1, 0)], []);
    expect(circle.roots).toEqual([0]);
    expect(wayTo(circle, 1)).toEqual([0, 1]);
  });
});

describe("its lines", () => {
  const shown = (lines: ReturnType<typeof linesOf>) =>
    lines.map(({ number, folded, lane }) =>
      folded.length > 0 ? `${lane}: ${folded[0]}-${folded.at(-1)}` : `${lane}: ${number}`,
    );

  it("keep the chosen way in its lane, and a branch beside it", () => {
    const lines = linesOf(tree, "all");
    expect(shown(lines)).toEqual(["0: 0", "0: 1", "0: 2", "0: 3", "1: 6", "1: 7", "0: 4", "0: 5"]);
    const branch = lines[4];
    expect(branch).toMatchObject({ isFork: true, through: [0], isEnd: false });
    expect(lines[5]?.isEnd).toBe(true);
    expect(lines.at(-1)?.isEnd).toBe(true);
  });

  it("fold what is in a row, and open it by its first node", () => {
    const long = treeOf({ branch: "main", branches: { main: 9 }, saves: {} }, chain(10), []);
    expect(shown(linesOf(long, new Set()))).toEqual(["0: 0", "0: 1-8", "0: 9"]);
    expect(linesOf(long, new Set([1]))).toHaveLength(10);
    expect(linesOf(long, "all")).toHaveLength(10);
    expect([...foldsWith(long, 5)]).toEqual([1]);
    expect(foldsWith(long, 9).size).toBe(0);
  });

  it("keep their keys when more is said", () => {
    const talk = { branch: "main", branches: {}, saves: {} };
    const before = linesOf(treeOf(talk, chain(10), []), new Set());
    const after = linesOf(treeOf(talk, chain(30), []), new Set());
    expect(after[1]?.key).toBe(before[1]?.key);
  });

  it("are all there for two thousand nodes, deep or wide", () => {
    const deep = treeOf({ branch: "m", branches: { m: 1999 }, saves: {} }, chain(2_000), []);
    expect(linesOf(deep, "all")).toHaveLength(2_000);
    const wide = Array.from({ length: 2_000 }, (_, at) => node(at, at === 0 ? null : 0));
    expect(linesOf(treeOf(TALK, wide, []), "all")).toHaveLength(2_000);
  });
});

describe("what is said of nodes", () => {
  it("counts kinds, the most frequent first", () => {
    expect(tally(tree, [1, 2, 3, 4])).toBe("2 called, 1 returned, 1 said");
  });

  it("is the first line, cut", () => {
    expect(summaryOf({ text: "\n  one\ntwo" })).toBe("one");
    expect(summaryOf({ text: "## Task\n\nSay hello" })).toBe("Say hello");
    expect(summaryOf({ text: "# Task" })).toBe("# Task");
    expect(summaryOf({ text: "abcdef" }, 4)).toBe("abc…");
  });

  it("compares two ways by what each has alone", () => {
    expect(compare(tree, 5, 7)).toEqual({ shared: 3, both: 4, left: [4, 5], right: [6, 7] });
    expect(compare(tree, 5, 5)).toMatchObject({ shared: 5, left: [], right: [] });
  });
});

describe("X1 what nodes cost", () => {
  it("is added up where it is known, and nothing where it is not", () => {
    const paid = treeOf(
      TALK,
      FORKED.map((one) => (one.kind === "model" ? { ...one, costMicros: 250 } : one)),
      [],
    );
    expect(costOf(paid, [0, 3, 7])).toBe(500);
    expect(costOf(paid, [0, 1])).toBeUndefined();
  });
});
