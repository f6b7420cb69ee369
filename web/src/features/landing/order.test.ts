import { describe, expect, it } from "vitest";
import { fakeLanding } from "../../../tests/fakeReview";
import { moved, placeOf, STEPS, whither, whyNoStep } from "./order";

const line = [
  fakeLanding({ bead: "now", stage: "checking", position: 1 }),
  fakeLanding({ bead: "a", stage: "waiting", position: 2 }),
  fakeLanding({ bead: "b", stage: "waiting", position: 3 }),
  fakeLanding({ bead: "c", stage: "waiting", position: 4 }),
  fakeLanding({ bead: "elsewhere", stage: "waiting", projectId: "other" }),
];
const at = (bead: string) => line.find((one) => one.bead === bead) ?? fakeLanding();

describe("the order of the queue", () => {
  it("knows where each step goes, and says why one makes no sense", () => {
    expect(STEPS.map((step) => whither(step, at("b"), line))).toEqual([
      { first: true },
      { before: "a", first: false },
      { first: false },
      { first: false },
    ]);
    expect(whither("down", at("a"), line)).toEqual({ before: "c", first: false });
    expect(STEPS.map((step) => whyNoStep(step, at("a"), line))).toEqual([
      "a is the first of those that wait.",
      "a is the first of those that wait.",
      undefined,
      undefined,
    ]);
    expect(whyNoStep("last", at("c"), line)).toBe("c is the last of those that wait.");
    expect(whyNoStep("up", at("now"), line)).toBe("now does not wait in the queue.");
  });

  it("is shown at once, and places stay where they are", () => {
    const landings = line.slice(0, 4);
    const shown = (bead: string, to: { before?: string; first: boolean }) =>
      moved({ projectId: "p", paused: null, landings }, bead, to).landings.map(
        ({ bead, position }) => `${position} ${bead}`,
      );
    expect(shown("c", { first: true })).toEqual(["1 now", "2 c", "3 a", "4 b"]);
    expect(shown("a", { before: "c", first: false })).toEqual(["1 now", "2 b", "3 a", "4 c"]);
    expect(shown("a", { first: false })).toEqual(["1 now", "2 b", "3 c", "4 a"]);
    expect(shown("gone", { first: true })).toEqual(["1 now", "2 a", "3 b", "4 c"]);
  });

  it("can be what it was", () => {
    expect(placeOf(at("a"), line)).toEqual({ before: "b", first: false });
    expect(placeOf(at("c"), line)).toEqual({ first: false });
  });
});
