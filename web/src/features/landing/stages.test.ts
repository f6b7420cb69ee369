import { describe, expect, it } from "vitest";
import { fakeLanding } from "../../../tests/fakeReview";
import { groupsOf, isOpen, troubleOf, whyNot } from "./stages";

describe("a train", () => {
  it("shows who is judged together", () => {
    const landings = [
      fakeLanding({ bead: "a", batch: "1" }),
      fakeLanding({ bead: "b", batch: "1" }),
      fakeLanding({ bead: "c", batch: "2" }),
      fakeLanding({ bead: "d" }),
      fakeLanding({ bead: "e" }),
    ];
    const groups = groupsOf(landings).map((group) => group.landings.map(({ bead }) => bead));
    expect(groups).toEqual([["a", "b"], ["c"], ["d"], ["e"]]);
  });

  it("has entries that can be removed, tried again or taken back, each in its time", () => {
    const waiting = fakeLanding();
    const failed = fakeLanding({ stage: "failed", trouble: "gate" });
    const landed = fakeLanding({ stage: "landed", landed: true });
    const able = (verb: "retry" | "remove" | "revert") =>
      [waiting, failed, landed].map((one) => whyNot(verb, one) === undefined);
    expect(able("remove")).toEqual([true, false, false]);
    expect(able("retry")).toEqual([false, true, false]);
    expect(able("revert")).toEqual([false, false, true]);
    expect([waiting, failed, landed].map(isOpen)).toEqual([true, false, false]);
    expect(troubleOf(failed)).toMatch(/gate failed/);
  });
});
