import { describe, expect, it } from "vitest";
import { heldRows } from "./calm";

const keyOf = (row: { id: string }) => row.id;

describe("a calm list", () => {
  it("keeps its order, takes new content, and lets new rows wait", () => {
    const seen = [
      { id: "a", n: 1 },
      { id: "b", n: 1 },
      { id: "c", n: 1 },
    ];
    const rows = [
      { id: "new", n: 2 },
      { id: "c", n: 2 },
      { id: "a", n: 2 },
    ];
    expect(heldRows(seen, rows, keyOf)).toEqual({
      shown: [
        { id: "a", n: 2 },
        { id: "b", n: 1 },
        { id: "c", n: 2 },
      ],
      waiting: 1,
    });
  });

  it("lets go what the reader took away, and only that", () => {
    const seen = [{ id: "a" }, { id: "b" }, { id: "c" }];
    const isTaken = ({ id }: { id: string }) => id === "a";
    expect(heldRows(seen, [{ id: "c" }], keyOf, isTaken)).toEqual({
      shown: [{ id: "b" }, { id: "c" }],
      waiting: 0,
    });
  });
});
