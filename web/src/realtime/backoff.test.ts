import { describe, expect, it } from "vitest";
import { backoffDelay } from "./backoff";

describe("the backoff", () => {
  it("stays within a fifth of 1, 2, 4, 8 .. and never above 30 seconds", () => {
    for (const [attempt, middle] of [
      [0, 1_000],
      [1, 2_000],
      [2, 4_000],
      [3, 8_000],
      [4, 16_000],
      [5, 30_000],
      [99, 30_000],
    ] as const) {
      expect(backoffDelay(attempt, () => 0)).toBe(middle * 0.8);
      expect(backoffDelay(attempt, () => 0.5)).toBe(middle);
      expect(backoffDelay(attempt, () => 1)).toBe(Math.min(30_000, middle * 1.2));
    }
  });
});
