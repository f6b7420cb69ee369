import { describe, expect, it } from "vitest";
import { offsetsOf, rowsInView } from "../flow/flow";
import { drawnOf } from "./drawn";

const items = Array.from({ length: 1_000 }, (_, at) => ({ key: `${at}`, estimate: 50 }));
const offsets = offsetsOf(items, new Map([["3", 400]]));
const flow = (top: number) => ({
  offsets,
  ...rowsInView(offsets, { top, height: 600 }),
  total: offsets.at(-1) ?? 0,
});

describe("the rows of a list that are drawn", () => {
  it("G1 are few, and stand where they would among all", () => {
    for (const top of [0, 20_000, 1e9]) {
      const { rows, below } = drawnOf(flow(top), [3, 700]);
      expect(rows.length).toBeLessThan(50);
      let y = 0;
      for (const { index, above } of rows) {
        y += above;
        expect(y).toBe(offsets[index]);
        y = offsets[index + 1] ?? 0;
      }
      expect(y + below).toBe(offsets.at(-1));
    }
  });

  it("have those among them that stay, once and in their order", () => {
    const indexes = drawnOf(flow(20_000), [700, 3, 400, 3]).rows.map(({ index }) => index);
    expect(indexes).toEqual([...new Set(indexes)].sort((a, b) => a - b));
    expect(indexes).toEqual(expect.arrayContaining([3, 400, 700]));
  });

  it("may be none", () => {
    const none = { offsets: offsetsOf([], new Map()), first: 0, end: 0, total: 0 };
    expect(drawnOf(none, [])).toEqual({ rows: [], below: 0 });
  });
});
