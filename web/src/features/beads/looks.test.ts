import { describe, expect, it } from "vitest";
import type { Bead } from "../../api/types";
import { bead } from "./fakeBead";
import { byUrgency, idWidth, PRIORITIES, resorted } from "./looks";

/** The same numbers each time, as if by chance. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * sides);
  };
}

describe("the order of beads", () => {
  it("is the same however it was before: beads change, come and go", () => {
    const roll = dice(7);
    const one = (id: number): Bead =>
      bead(`b${id}`, {
        priority: PRIORITIES[roll(PRIORITIES.length)] ?? "medium",
        createdAt: `2026-11-${10 + roll(5)}T00:00:00Z`,
      });
    let beads = Array.from({ length: 40 }, (_, id) => one(id));
    let order: readonly Bead[] = [];
    for (let round = 0; round < 200; round += 1) {
      const kind = roll(4);
      if (kind === 0) beads = [...beads, one(100 + round)];
      else if (kind === 1) beads = beads.toSpliced(roll(beads.length), 1);
      else if (kind === 2) beads = beads.toSpliced(roll(beads.length), 1, one(200 + round));
      else beads = beads.map((old) => (roll(5) === 0 ? one(Number(old.id.slice(1))) : old));
      const byId = new Map(beads.map((each) => [each.id, each]));
      order = resorted(order, beads, byId);
      expect(order).toEqual(beads.toSorted(byUrgency));
    }
  });
});

describe("the column of ids", () => {
  it("is as wide as the ids of Godel need, wider for those of others, and never all of the table", () => {
    expect(idWidth("godel-4k2hm".length)).toBe("minmax(104px, 104px)");
    expect(idWidth("payments-frontend-a3f8e9".length)).toBe("minmax(156px, 196px)");
    expect(idWidth(200)).toBe("minmax(156px, 300px)");
  });
});
