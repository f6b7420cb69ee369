import { describe, expect, it } from "vitest";
import { bead } from "./fakeBead";
import { BeadGraph } from "./graph";
import { grouped, keyOfRow, type TableRow } from "./groups";
import { treeRows } from "./tree";

const NONE = new Set<string>();
const waits = (target: string) => [{ type: "blocks", target }];

describe("the tree", () => {
  const beads = [
    bead("epic"),
    bead("part", { parentBead: "epic" }),
    bead("last", { links: waits("part") }),
    bead("alone"),
  ];
  const graph = new BeadGraph(beads);
  const draw = (kind: "parts" | "waits", closed = NONE) =>
    treeRows(graph, beads, kind, closed).map(
      ({ bead: { id }, depth }) => `${"-".repeat(depth)}${id}`,
    );

  it("B3 shows parts below their whole, or what a bead waits on below it", () => {
    expect(draw("parts")).toEqual(["epic", "-part", "last", "alone"]);
    expect(draw("waits")).toEqual(["epic", "last", "-part", "alone"]);
    expect(draw("parts", new Set(["epic"]))).toEqual(["epic", "last", "alone"]);
  });

  it("B3 a circle has an end", () => {
    const circle = [bead("a", { links: waits("b") }), bead("b", { links: waits("a") })];
    const rows = treeRows(new BeadGraph(circle), circle, "waits", NONE);
    expect(rows.map(({ path }) => path)).toEqual(["a", "a/b"]);
  });

  it("B3 what is in a circle is there beside what has a beginning, also when that is folded", () => {
    const beads = [
      bead("first", { links: waits("then") }),
      bead("then"),
      bead("a", { links: waits("b") }),
      bead("b", { links: [...waits("a"), ...waits("then")] }),
    ];
    const paths = (closed: ReadonlySet<string>) =>
      treeRows(new BeadGraph(beads), beads, "waits", closed).map(({ path }) => path);
    const circle = paths(NONE).filter((path) => /^[ab]/.test(path));
    expect(circle.slice(0, 2)).toEqual(["a", "a/b"]);
    expect(paths(NONE)).toContain("first/then");
    expect(paths(new Set(["first"]))).toEqual(["first", ...circle]);
  });
});

describe("groups of the table", () => {
  it("B1 stand in their order, with heads that count, open or closed", () => {
    const rows: TableRow[] = [
      bead("a", { status: "done" }),
      bead("b"),
      bead("c", { status: "done" }),
    ].map((one) => ({ kind: "bead", bead: one }));
    const keys = (closed: ReadonlySet<string>) => grouped(rows, "status", closed, []).map(keyOfRow);
    expect(keys(NONE)).toEqual(["group status Open", "b", "group status Done", "a", "c"]);
    expect(keys(new Set(["status Done"]))).toEqual(["group status Open", "b", "group status Done"]);
    expect(grouped(rows, "none", NONE, [])).toBe(rows);
  });
});
