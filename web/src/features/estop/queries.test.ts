import { describe, expect, it } from "vitest";
import type { GodelEvent } from "../../api/types";
import { beginningOf, stopCli } from "./queries";

const event = (sequence: number, actor = "user:ann") =>
  ({ sequence, timestamp: `at ${sequence}`, metadata: { actor } }) as unknown as GodelEvent;

describe("a standstill", () => {
  it("begins with the first stop after everything went on the last time", () => {
    const stops = [event(9, "user:bob"), event(7), event(3)];
    expect(beginningOf(stops, [event(5)])).toEqual({ at: "at 7", by: "ann" });
    expect(beginningOf(stops, [])).toEqual({ at: "at 3", by: "ann" });
    expect(beginningOf([event(2, "agent:x")], [])).toEqual({ at: "at 2", by: undefined });
  });

  it("has no known beginning when the log does not go back so far", () => {
    expect(beginningOf([], [event(5)])).toBeUndefined();
  });

  it("is the same on the command line", () => {
    expect(stopCli("")).toBe("godel estop");
    expect(stopCli("wrong branch")).toBe("godel estop --reason 'wrong branch'");
  });
});
