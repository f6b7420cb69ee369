import { describe, expect, it } from "vitest";
import { backoffDelay } from "./backoff";

describe("the backoff", () => {
  it("stays within a fifth of 0.5, 1, 2, 4 .. and never above 15 seconds", () => {
    for (const [attempt, middle] of [
      [0, 500],
      [1, 1_000],
      [2, 2_000],
      [3, 4_000],
      [4, 8_000],
      [5, 15_000],
      [99, 15_000],
    ] as const) {
      expect(backoffDelay(attempt, () => 0)).toBe(middle * 0.8);
      expect(backoffDelay(attempt, () => 0.5)).toBe(middle);
      expect(backoffDelay(attempt, () => 1)).toBe(Math.min(15_000, middle * 1.2));
    }
  });
});
