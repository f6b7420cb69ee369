import { describe, expect, it } from "vitest";
import { fakeServer, ok } from "../../tests/fakeServer";
import { list } from "./list";

describe("a list", () => {
  it("tells what is there before its end is read", async () => {
    const first = "GET /api/v1/beads?limit=1000";
    const page = (items: number[], cursor?: string) => () =>
      ok({ items, pagination: { cursor, hasMore: cursor !== undefined } });
    fakeServer({
      [first]: page([1, 2], "a"),
      [`${first}&cursor=a`]: page([3, 4], "b"),
      [`${first}&cursor=b`]: page([5]),
    });
    const parts: unknown[][] = [];
    const whole = await list("/api/v1/beads", {
      onPart: (items) => parts.push([...items]),
    });
    expect(parts).toEqual([
      [1, 2],
      [1, 2, 3, 4],
    ]);
    expect(whole).toEqual({ items: [1, 2, 3, 4, 5], isCut: false });
  });
});
