import { describe, expect, it } from "vitest";
import { bead } from "../beads/fakeBead";
import { lanesOf } from "./board";
import { cardTo, spotTo } from "./steps";

describe("moving over the board by keys", () => {
  const lanes = lanesOf(
    [
      bead("a", { agent: "one", rank: "1" }),
      bead("b", { agent: "one", rank: "2" }),
      bead("r", { agent: "one", status: "review" }),
      bead("z", { agent: "two" }),
    ],
    "agent",
    [],
  );
  const one = "agent one";

  it("C3 arrows go from card to card, over empty columns and into the next lane", () => {
    expect(cardTo(lanes, undefined, "down")).toEqual({ lane: one, id: "a" });
    expect(cardTo(lanes, { lane: one, id: "a" }, "down")).toEqual({ lane: one, id: "b" });
    expect(cardTo(lanes, { lane: one, id: "b" }, "down")).toEqual({ lane: "agent two", id: "z" });
    expect(cardTo(lanes, { lane: one, id: "b" }, "right")).toEqual({ lane: one, id: "r" });
    expect(cardTo(lanes, { lane: one, id: "r" }, "right")).toEqual({ lane: one, id: "r" });
  });

  it("C3 lifted cards go from column to column and from place to place", () => {
    const [lane] = lanes;
    if (!lane) throw new Error("there is no lane");
    const moved = new Set(["a"]);
    const start = { lane: one, status: "open", index: 0 } as const;
    const down = spotTo(lane, start, "down", moved);
    expect(down.index).toBe(1);
    expect(spotTo(lane, down, "down", moved).index).toBe(1);
    const next = spotTo(lane, down, "right", moved);
    expect(next).toEqual({ lane: one, status: "in-progress", index: 0 });
    expect(spotTo(lane, start, "left", moved)).toEqual(start);
  });
});
