import { describe, expect, it } from "vitest";
import { EMPTY_TASK, EMPTY_TIMES, faultsOf, spanMs, taskFlags, taskOf } from "./taskForm";

const EMPTY = { ...EMPTY_TASK, ...EMPTY_TIMES };

describe("what is typed to make a task", () => {
  it("says nothing about what was left empty", () => {
    expect(taskOf({ ...EMPTY, title: " build web " })).toEqual({ title: "build web" });
    expect(taskFlags(EMPTY)).toBe("");
    expect(faultsOf(EMPTY)).toEqual({});
  });

  it("becomes what the API takes, and the same flags", () => {
    const values = {
      ...EMPTY,
      title: "build",
      payload: '{"branch": "main"}',
      pool: "ci",
      priority: "high",
      requires: "rust, linux",
      attempts: "5",
      pause: "10s",
      longestPause: "30m",
      elsewhere: "yes",
      timeout: "10m",
      key: "build of monday",
    };
    expect(taskOf(values)).toEqual({
      title: "build",
      payload: { branch: "main" },
      pool: "ci",
      priority: "high",
      requires: ["rust", "linux"],
      retry: { maxAttempts: 5, delayMs: 10_000, maxDelayMs: 1_800_000, elsewhere: true },
      timeoutSeconds: 600,
      key: "build of monday",
    });
    expect(taskFlags(values)).toBe(
      ` --payload '{"branch":"main"}' --pool ci --priority high --require rust --require linux` +
        " --max-attempts 5 --retry-delay 10s --retry-max-delay 30m --elsewhere --timeout 10m" +
        " --key 'build of monday'",
    );
  });

  it("is refused at the field that is wrong", () => {
    const faults = faultsOf({
      ...EMPTY,
      payload: "[1]",
      attempts: "0",
      pause: "soon",
      timeout: "200ms",
      start: "2030-01-02T10:00",
      deadline: "2030-01-01T10:00",
    });
    expect(Object.keys(faults).sort()).toEqual([
      "attempts",
      "deadline",
      "pause",
      "payload",
      "timeout",
    ]);
  });

  it.each([
    ["90s", 90_000],
    ["2 h", 7_200_000],
    ["250ms", 250],
    ["", undefined],
    ["10", undefined],
    ["ten minutes", undefined],
  ])("takes %j for a span of %s ms", (text, ms) => {
    expect(spanMs(text)).toBe(ms);
  });
});
