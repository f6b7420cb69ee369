import { describe, expect, it } from "vitest";
import { offsetsOf, rowAt, rowsInView } from "./flow";

const items = Array.from({ length: 5_000 }, (_, at) => ({ key: `${at}`, estimate: 20 }));

describe("a long page", () => {
  it("draws few of many rows, wherever it is scrolled to", () => {
    const offsets = offsetsOf(items, new Map());
    for (const top of [0, 40_000, 99_400]) {
      const { first, end } = rowsInView(offsets, { top, height: 600 });
      expect(end - first).toBeLessThan(80);
      expect(offsets[first]).toBeLessThanOrEqual(top);
      expect(offsets[end]).toBeGreaterThanOrEqual(top + 600);
    }
  });

  it("knows heights that were measured", () => {
    const offsets = offsetsOf(items.slice(0, 3), new Map([["1", 100]]));
    expect([...offsets]).toEqual([0, 20, 120, 140]);
    expect([0, 19, 20, 119, 120, 9_999].map((y) => rowAt(offsets, y))).toEqual([0, 0, 1, 1, 2, 2]);
  });

  it("may be empty", () => {
    expect(rowsInView(offsetsOf([], new Map()), { top: 0, height: 600 })).toEqual({
      first: 0,
      end: 0,
    });
  });
});
