import { describe, expect, it } from "vitest";
import { between, placeOf, ranksBetween } from "./rank";

describe("the manual order", () => {
  it("C3 there is always room between two cards, wherever they are put", () => {
    const ranks = ["1abc", "1abd", "2000000000", "2000000001", "zzz"];
    let state = 3;
    for (let round = 0; round < 500; round += 1) {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      const at = state % (ranks.length + 1);
      const rank = between(ranks[at - 1] ?? "", ranks[at]);
      ranks.splice(at, 0, rank);
      expect([...ranks].sort(), `round ${round}: ${rank}`).toEqual(ranks);
    }
    expect(new Set(ranks).size).toBe(ranks.length);
  });

  it("C3 there is room before a place that ends in 0, and before the lowest", () => {
    for (const [before, after] of [
      ["2", "20"],
      ["2", "2000"],
      ["", "0"],
      ["", "00"],
      ["1zz", "1zz0"],
    ] as const) {
      const [one = "", two = ""] = ranksBetween(2, before, after);
      const zero = between(before, one);
      expect([after, two, one, zero, before].sort()).toEqual([before, zero, one, two, after]);
      expect(new Set([before, zero, one, two, after]).size).toBe(5);
    }
  });

  it("C3 many cards keep their order", () => {
    const ranks = ranksBetween(30, "2a", "2b");
    expect([...ranks].sort()).toEqual(ranks);
    expect(ranks.every((rank) => rank > "2a" && rank < "2b")).toBe(true);
  });

  it("a card that nobody moved stands by urgency, then age", () => {
    const bead = (priority: string, createdAt: string) => placeOf({ priority, createdAt });
    const old = "2026-01-01T00:00:00Z";
    const young = "2026-11-16T00:00:00Z";
    expect(bead("critical", young) < bead("high", old)).toBe(true);
    expect(bead("high", old) < bead("high", young)).toBe(true);
    expect(placeOf({ rank: "x", priority: "low", createdAt: old })).toBe("x");
  });
});
