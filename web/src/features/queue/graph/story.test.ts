import { describe, expect, it } from "vitest";
import type { RunStep } from "../../../api/types";
import {
  askRerun,
  barsOf,
  decisiveWay,
  dependantsOf,
  edgeKey,
  edgesOf,
  spoken,
  stackOf,
  ticksOf,
  triesOf,
  whyNoRerun,
  whyNoRetry,
} from "./story";

const BEGIN = Date.parse("2026-11-16T10:00:00Z");
const at = (second: number) => new Date(BEGIN + second * 1000).toISOString();

function step(id: string, fields: Partial<RunStep> = {}): RunStep {
  return { id, kind: "task", dependsOn: [], state: "pending", round: 0, ...fields };
}

const STEPS = [
  step("a", { state: "succeeded", startedAt: at(0), finishedAt: at(10) }),
  step("b", { state: "succeeded", dependsOn: ["a"], startedAt: at(10), finishedAt: at(14) }),
  step("c", { state: "succeeded", dependsOn: ["a"], startedAt: at(10), finishedAt: at(30) }),
  step("d", { state: "running", dependsOn: ["b", "c"], startedAt: at(30) }),
];

describe("the critical path", () => {
  it("is what was waited for last, and then what is ahead", () => {
    expect(decisiveWay(STEPS, ["d", "e"])).toEqual(["a", "c", "d", "e"]);
  });

  it("is told from the end once nothing is ahead", () => {
    const over = STEPS.with(3, step("d", { ...STEPS[3], finishedAt: at(40) }));
    expect(decisiveWay(over, [])).toEqual(["a", "c", "d"]);
    expect(decisiveWay([step("a")], [])).toEqual([]);
    const skipped = step("e", { state: "skipped", dependsOn: ["d"], finishedAt: at(41) });
    expect(decisiveWay([...over, skipped], [])).toEqual(["a", "c", "d"]);
  });

  it("has edges between its steps only", () => {
    const edges = edgesOf(["a", "c", "d"]);
    expect(edges.has(edgeKey("a", "c"))).toBe(true);
    expect(edges.has(edgeKey("a", "d"))).toBe(false);
  });
});

describe("the line of time", () => {
  it("has a bar for what has begun, and what runs goes on to now", () => {
    const { bars, seconds } = barsOf({ createdAt: at(0) }, [...STEPS, step("e")], BEGIN + 50_000);
    expect(seconds).toBe(50);
    expect(bars.get("c")).toEqual({ id: "c", left: 20, width: 40, from: 10, took: 20 });
    expect(bars.get("d")).toMatchObject({ left: 60, width: 40 });
    expect(bars.has("e")).toBe(false);
  });

  it("ends with the run, and lives with a clock that is behind", () => {
    const run = { createdAt: at(0), finishedAt: at(40) };
    expect(barsOf(run, STEPS, BEGIN + 9_000_000).seconds).toBe(40);
    const early = step("x", { startedAt: at(-5), finishedAt: at(-4) });
    expect(barsOf(run, [early], BEGIN).bars.get("x")).toMatchObject({ left: 0, width: 0 });
  });

  it("is marked at round times", () => {
    expect(ticksOf(50)).toEqual([0, 10, 20, 30, 40, 50]);
    expect(ticksOf(1)).toEqual([0, 1]);
    expect(ticksOf(900_000).length).toBeLessThanOrEqual(12);
  });
});

describe("a step", () => {
  it("tells attempts and rounds apart", () => {
    const again = step("a", { round: 1, startedAt: at(0) });
    expect(triesOf(again, 2)).toEqual(["2 attempts", "begun anew 1 time"]);
    expect(triesOf(step("a"), 1)).toEqual([]);
    expect([stackOf(again, 2), stackOf(step("a"), 0)]).toEqual([3, 1]);
  });

  it("says all that its card shows", () => {
    const how = { attempts: 2, isDecisive: true, now: BEGIN };
    expect(spoken(STEPS[1] as RunStep, how)).toBe(
      "b, succeeded, after a, 2 attempts, 4 seconds, on the critical path",
    );
  });

  it("is done anew only if it is over", () => {
    for (const state of ["succeeded", "failed", "skipped", "cancelled"]) {
      expect(whyNoRetry(step("a", { state })), state).toBeUndefined();
    }
    for (const state of ["pending", "ready", "running", "waiting"]) {
      expect(whyNoRetry(step("a", { state }))).toBe(
        `a is ${state}; only what is over can be done anew.`,
      );
    }
    expect(whyNoRerun({ workflowId: "w" })).toBeUndefined();
    expect(whyNoRerun({})).toMatch(/not stored/);
  });

  it("is asked about with all that comes after it, each step once", () => {
    const steps = [...STEPS, step("e", { dependsOn: ["d", "c"] }), step("f")];
    expect(dependantsOf("a", steps).toSorted()).toEqual(["b", "c", "d", "e"]);
    expect(dependantsOf("e", steps)).toEqual([]);
    const body = (id: string) =>
      askRerun(steps.find((one) => one.id === id) ?? step(id), steps).body;
    expect(body("a")).toMatch(/ 4 steps after it are done anew as well\.$/);
    expect(body("d")).toMatch(/ 1 step after it is done anew as well\.$/);
    expect(body("e")).toMatch(/ No step comes after it\.$/);
  });
});
