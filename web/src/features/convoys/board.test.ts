import { describe, expect, it } from "vitest";
import type { Convoy } from "../../api/types";
import { bead } from "../beads/fakeBead";
import {
  type Held,
  heldLanes,
  isSettled,
  lanesOf,
  onBoard,
  ranksAt,
  sumOf,
  titlesOf,
} from "./board";
import { byPlace } from "./rank";

describe("the board", () => {
  const convoy = {
    id: "c",
    projectId: "p",
    name: "Release",
    beads: ["a", "b"],
  } as unknown as Convoy;

  it("C1 has a lane for each convoy and one for the rest", () => {
    const beads = [bead("a"), bead("b", { status: "done" }), bead("x", { status: "review" })];
    const lanes = lanesOf(beads, "convoy", [convoy]);
    expect(lanes.map(({ title }) => title)).toEqual(["Release", "In no convoy"]);
    expect(lanes[0]?.cells.open.map(({ id }) => id)).toEqual(["a"]);
    expect(lanes[0]?.cells.done.map(({ id }) => id)).toEqual(["b"]);
    expect(lanes[1]?.cells.review.map(({ id }) => id)).toEqual(["x"]);
  });

  it("G11 keeps a card where the reader saw it, with what it says by now", () => {
    const was = [bead("a"), bead("b")];
    const now = [bead("a", { status: "review", title: "Another title" })];
    const rowsOf = (lanes: ReturnType<typeof lanesOf>): Held[] =>
      lanes.flatMap(({ id, cells }) =>
        (["open", "review"] as const).flatMap((status) =>
          cells[status].map((one) => ({ lane: id, status, bead: one })),
        ),
      );
    const lanes = lanesOf(now, "none", []);
    const [held] = heldLanes(lanes, rowsOf(lanesOf(was, "none", [])), rowsOf(lanes));
    expect(held?.cells.open.map(({ id, title }) => [id, title])).toEqual([
      ["a", "Another title"],
      ["b", bead("b").title],
    ]);
    expect(held?.cells.review).toEqual([]);
  });

  it("G7 is shown before all beads are here only if the others go where nobody looks yet", () => {
    const convoys = Array.from({ length: 6 }, (_, at) => ({ ...convoy, id: `c${at}` }));
    const settled = (ids: readonly string[], among: readonly Convoy[]) => {
      const here = ids.map((id) => bead(id));
      const byId = new Map(here.map((one) => [one.id, one]));
      return isSettled(lanesOf(here, "convoy", among), byId);
    };
    expect(settled(["a", "b"], convoys)).toBe(true);
    expect(settled(["a"], convoys)).toBe(false);
    // The lane of what is in no convoy is unfolded, and more may come into it.
    expect(settled(["a", "b"], [convoy])).toBe(false);
  });

  it("C1 has a lane for each agent, nobody last", () => {
    const beads = [bead("a"), bead("b", { agent: "worker-2" }), bead("c", { agent: "user:ann" })];
    expect(lanesOf(beads, "agent", []).map(({ title }) => title)).toEqual([
      "ann",
      "worker-2",
      "Nobody",
    ]);
  });

  it("C1 the head counts cards, cost and the oldest; what was dropped is hidden", () => {
    const beads = [bead("a"), bead("b", { createdAt: "2026-01-01T00:00:00Z" })];
    expect(
      sumOf(
        beads,
        new Map([
          ["a", 5],
          ["b", 7],
          ["z", 1],
        ]),
      ),
    ).toEqual({
      count: 2,
      costMicros: 12,
      oldest: "2026-01-01T00:00:00Z",
    });
    const dropped = bead("d", { status: "done", resolution: { kind: "wont-do" } });
    expect(onBoard([dropped], false)).toEqual([]);
    expect(onBoard([dropped], true)).toHaveLength(1);
  });

  it("C3 cards come to stand where they are put", () => {
    const cell = ["a", "b", "c", "d"].map((id, at) =>
      bead(id, { createdAt: `2026-11-16T10:00:0${at}Z` }),
    );
    const cards = [cell[3], cell[0]].filter((one) => one !== undefined);
    const ranks = ranksAt(cell, cards, 1);
    const after = cell.map((one) => ({ ...one, rank: ranks.get(one.id) ?? null })).sort(byPlace);
    expect(after.map(({ id }) => id)).toEqual(["b", "d", "a", "c"]);
  });

  it("C4 a list becomes one title per line", () => {
    expect(titlesOf("- one\n* [ ] two\r\n\n 3. three\nfour - five\n- [x] six")).toEqual([
      "one",
      "two",
      "three",
      "four - five",
      "six",
    ]);
  });
});
