import { describe, expect, it } from "vitest";
import { attemptsOf, lookOf, TASK_STATES, tookSeconds } from "./states";

describe("states of the queue", () => {
  it("each has a sign of its own, and an unknown one a plain sign", () => {
    const signs = TASK_STATES.map((state) => lookOf(state).icon);
    expect(new Set(signs).size).toBe(signs.length);
    expect(lookOf("something new").tone).toBe("plain");
  });

  it("attempts are counted against what is allowed, as long as it is", () => {
    expect(attemptsOf({ attempt: 2, lastAttempt: 5 })).toBe("2 of 5");
    expect(attemptsOf({ attempt: 3, lastAttempt: null })).toBe("3");
  });

  it("what still runs has taken until now", () => {
    const now = Date.parse("2026-11-16T12:00:10Z");
    expect(tookSeconds("2026-11-16T12:00:00Z", null, now)).toBe(10);
    expect(tookSeconds("2026-11-16T12:00:00Z", "2026-11-16T12:00:04Z", now)).toBe(4);
    expect(tookSeconds(null, null, now)).toBeUndefined();
  });
});
