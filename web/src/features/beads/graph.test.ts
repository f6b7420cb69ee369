import { describe, expect, it } from "vitest";
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
    expect(explain(graph, later, 0)).toContain("put off until 2099-01-01");
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
});
