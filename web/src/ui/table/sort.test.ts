import { describe, expect, it } from "vitest";
import { formatSort, nextSort, parseSort, sortRows } from "./sort";

describe("sorting", () => {
  it("is written in the address and read again", () => {
    for (const text of ["cost", "-cost"]) {
      const sort = parseSort(text);
      expect(sort && formatSort(sort)).toBe(text);
    }
    expect(parseSort("")).toBeUndefined();
  });

  it("goes up, down, and back to as it comes", () => {
    const up = nextSort(undefined, "cost");
    const down = nextSort(up, "cost");
    expect([up, down, nextSort(down, "cost")]).toEqual([
      { column: "cost", isDown: false },
      { column: "cost", isDown: true },
      undefined,
    ]);
    expect(nextSort(down, "name")).toEqual({ column: "name", isDown: false });
  });

  it("counts numbers in names, and puts nothing last either way", () => {
    const rows = ["worker-10", null, "worker-9", "worker-1"];
    const self = (row: string | null) => row;
    expect(sortRows(rows, self, false)).toEqual(["worker-1", "worker-9", "worker-10", null]);
    expect(sortRows(rows, self, true)).toEqual(["worker-10", "worker-9", "worker-1", null]);
  });
});
