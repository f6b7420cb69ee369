import { describe, expect, it } from "vitest";
import { shortTime } from "../../ui/format";
import { bead } from "./fakeBead";
import { BeadGraph, explain } from "./graph";

const waits = (...targets: string[]) => targets.map((target) => ({ type: "blocks", target }));

describe("what depends on what", () => {
  it("B3 a bead waits for those that are not closed", () => {
    const graph = new BeadGraph([
      bead("a"),
      bead("b", { status: "done" }),
      bead("c", { links: waits("a", "b", "gone") }),
    ]);
    const c = graph.byId.get("c") ?? bead("none");
    expect(graph.isBlocked(c)).toBe(true);
    expect(explain(graph, c, 0)).toBe("Blocked: It waits on a.");
    expect(graph.waitersOf("a").map(({ id }) => id)).toEqual(["c"]);
  });

  it("B3 a part is held up with its whole, and waits-for means all parts", () => {
    const part = { type: "parent-child", target: "whole" };
    const graph = new BeadGraph([
      bead("first"),
      bead("whole", { links: waits("first") }),
      bead("part", { parentBead: "whole", links: [part] }),
      bead("epic", { status: "done" }),
      bead("inside", { parentBead: "epic" }),
      bead("last", { links: [{ type: "waits-for", target: "epic" }] }),
    ]);
    const blocked = [...graph.byId.values()].filter((one) => graph.isBlocked(one));
    expect(blocked.map(({ id }) => id)).toEqual(["whole", "part", "last"]);
  });

  it("B3 says why a bead is ready", () => {
    const graph = new BeadGraph([bead("a", { status: "done" }), bead("b", { links: waits("a") })]);
    const b = graph.byId.get("b") ?? bead("none");
    expect(explain(graph, b, 0)).toBe("Ready: all 1 that it waited on are closed.");
    const later = bead("c", { defer: "2099-01-01T00:00:00Z" });
    expect(explain(graph, later, 0)).toContain(`put off until ${shortTime(later.defer ?? "")}`);
  });

  it("a circle ends", () => {
    const graph = new BeadGraph([
      bead("a", { links: waits("b") }),
      bead("b", { links: waits("a") }),
    ]);
    expect([...graph.byId.values()].every((one) => graph.isBlocked(one))).toBe(true);
    expect(graph.longestChain([...graph.byId.values()]).length).toBe(2);
  });

  it("C5 finds the longest chain, by estimate first", () => {
    const beads = [
      bead("a", { estimate: 10 }),
      bead("b", { links: waits("a"), estimate: 10 }),
      bead("c", { links: waits("b") }),
      bead("long", { estimate: 90 }),
      bead("over", { status: "done", estimate: 900 }),
    ];
    const graph = new BeadGraph(beads);
    expect(graph.longestChain(beads).map(({ id }) => id)).toEqual(["long"]);
    expect(graph.longestChain(beads.slice(0, 3)).map(({ id }) => id)).toEqual(["a", "b", "c"]);
  });

  it("C5 finds a chain that is longer than calls can be deep", () => {
    const many = 20_000;
    const beads = Array.from({ length: many }, (_, at) =>
      bead(`b${at}`, { links: waits(`b${at - 1}`) }),
    );
    const ids = beads.map(({ id }) => id);
    const graph = new BeadGraph(beads);
    // Whatever comes first: from the end all of it lies ahead, from the beginning nothing does.
    for (const order of [beads, beads.toReversed()]) {
      expect(graph.longestChain(order).map(({ id }) => id)).toEqual(ids);
    }
  });

  it("C5 finds the longest chain where every bead waits on many", () => {
    const [rows, width] = [50, 40];
    const name = (row: number, at: number) => `b${row}-${at}`;
    const row = (of: number) => Array.from({ length: width }, (_, at) => name(of, at));
    const beads = Array.from({ length: rows }, (_, of) =>
      row(of).map((id, at) =>
        bead(id, { links: waits(...row(of - 1)), ...(at === of % width && { estimate: 5 }) }),
      ),
    ).flat();
    const wanted = Array.from({ length: rows }, (_, of) => name(of, of % width));
    const chain = new BeadGraph(beads).longestChain(beads.toReversed());
    expect(chain.map(({ id }) => id)).toEqual(wanted);
  });

  it("C5 a circle inside of a chain is gone round once", () => {
    const beads = [
      bead("a", { links: waits("c") }),
      bead("b", { links: waits("a") }),
      bead("c", { links: waits("b") }),
      bead("d", { links: waits("c", "d") }),
    ];
    const ids = new BeadGraph(beads).longestChain([...beads].reverse()).map(({ id }) => id);
    expect(ids).toEqual(["a", "b", "c", "d"]);
  });
});
