import { describe, expect, it } from "vitest";
import { depthsOf, type Linked, layered } from "./layers";
import { CARD, layoutOf, neighbour, pathOf } from "./layout";
import { crossings, ordered } from "./order";

const step = (id: string, ...dependsOn: string[]): Linked => ({ id, dependsOn });
const DIAMOND = [step("a"), step("b", "a"), step("c", "a"), step("d", "b", "c")];

/** Steps that depend on some of those before them; the same for the same seed. */
function random(many: number, seed: number): Linked[] {
  let state = seed;
  const next = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
  return Array.from({ length: many }, (_, at) => {
    const before = at === 0 ? 0 : next(4);
    return step(`s${at}`, ...Array.from({ length: before }, () => `s${next(at)}`));
  });
}

describe("layers", () => {
  it("puts each step behind the longest way to it", () => {
    const depths = depthsOf([...DIAMOND, step("e", "a", "d")]);
    expect(Object.fromEntries(depths)).toEqual({ a: 0, b: 1, c: 1, d: 2, e: 3 });
  });

  it("lives with circles, with itself and with steps that are not there", () => {
    const depths = depthsOf([step("a", "a", "gone"), step("b", "c"), step("c", "b")]);
    expect([...depths.values()]).toEqual([0, 0, 0]);
    expect(layoutOf([step("b", "c"), step("c", "b")]).nodes).toHaveLength(2);
  });

  it("cuts a long edge so that each part joins neighbours", () => {
    const { ways, vertices } = layered([...DIAMOND, step("e", "a", "d")]);
    const long = ways.find(({ from, to }) => from === "a" && to === "e");
    expect(long?.through.map((one) => vertices[one]?.layer)).toEqual([0, 1, 2, 3]);
  });
});

describe("the order in layers", () => {
  it("has no crossing where none is needed", () => {
    const steps = [step("a"), step("b"), step("c", "b"), step("d", "a")];
    const graph = layered(steps);
    expect(crossings(graph)).toBe(1);
    expect(crossings({ ...graph, layers: ordered(graph) })).toBe(0);
  });

  it("never has more crossings than the order that was given", () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const graph = layered(random(40, seed));
      expect(crossings({ ...graph, layers: ordered(graph) })).toBeLessThanOrEqual(crossings(graph));
    }
  });
});

describe("the layout", () => {
  it("is the same for the same steps, however they stand", () => {
    for (let seed = 1; seed <= 10; seed += 1) {
      const steps = random(60, seed);
      const changed = steps.map((one) => ({ ...one, state: "failed", round: 3 }));
      expect(layoutOf(changed)).toEqual(layoutOf(steps));
    }
  });

  it("lets no card lie on another, and every edge go to the right", () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const { nodes, edges, width, height } = layoutOf(random(50, seed));
      for (const [at, a] of nodes.entries()) {
        expect(a.x >= 0 && a.y >= 0).toBe(true);
        expect(a.x + CARD.width <= width && a.y + CARD.height <= height).toBe(true);
        for (const b of nodes.slice(at + 1)) {
          if (a.x === b.x) expect(Math.abs(a.y - b.y)).toBeGreaterThanOrEqual(CARD.height);
        }
      }
      for (const { points } of edges) {
        for (const [at, point] of points.entries()) {
          const last = points[at - 1];
          if (last) expect(point.x).toBeGreaterThan(last.x);
        }
      }
    }
  });

  it("draws a chain as a straight line and a diamond evenly", () => {
    const chain = layoutOf([step("a"), step("b", "a"), step("c", "b")]);
    expect(new Set(chain.nodes.map(({ y }) => y)).size).toBe(1);
    const [a, b, c, d] = layoutOf(DIAMOND).nodes.map(({ y }) => y);
    expect(a).toBe(d);
    expect((b ?? 0) + (c ?? 0)).toBe(2 * (a ?? 0));
  });

  it("draws nothing for nothing, and a thousand steps", () => {
    expect(layoutOf([])).toMatchObject({ nodes: [], edges: [] });
    expect(layoutOf(random(1_000, 7)).nodes).toHaveLength(1_000);
  });

  it("goes along edges and layers by arrow keys", () => {
    const layout = layoutOf(DIAMOND);
    const go = (id: string, key: string) => neighbour(layout, id, key);
    const upper = go("a", "ArrowRight");
    expect(["b", "c"]).toContain(upper);
    expect(go("d", "ArrowRight")).toBeUndefined();
    expect(go("b", "ArrowLeft")).toBe("a");
    expect([go("b", "ArrowDown"), go("c", "ArrowDown")].filter(Boolean)).toHaveLength(1);
  });

  it("draws an edge as a path", () => {
    expect(pathOf([])).toBe("");
    expect(
      pathOf([
        { x: 0, y: 0 },
        { x: 10, y: 0 },
        { x: 20, y: 8 },
      ]),
    ).toBe("M0 0H10C15 0 15 8 20 8");
  });
});
