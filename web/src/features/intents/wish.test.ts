import { describe, expect, it } from "vitest";
import { budgetFault, microsOf, suggestedBudget, wishCli } from "./wish";

describe("a wish", () => {
  it("reads money as people write it", () => {
    expect(microsOf("5")).toBe(5_000_000);
    expect(microsOf("$2.50")).toBe(2_500_000);
    expect(microsOf("0,1")).toBe(100_000);
    expect(microsOf(" ")).toBeUndefined();
    expect(microsOf("five")).toBeNaN();
  });

  it("says what is wrong with a budget before it is sent", () => {
    expect(budgetFault("")).toBeUndefined();
    expect(budgetFault("5")).toBeUndefined();
    expect(budgetFault("0")).toMatch(/more than 0/);
    expect(budgetFault("-5")).toMatch(/such as/);
  });

  it("is the same on the command line", () => {
    expect(wishCli({ text: 'Say "hi"', budgetMicros: 2_500_000, rules: true })).toBe(
      "godel do 'Say \"hi\"' --budget 2.5 --rules",
    );
  });

  it("suggests the high end of its cost, in whole cents", () => {
    const range = (high: number) => ({
      cost: { low: 0, middle: 1, high },
      seconds: { low: 0, middle: 0, high: 0 },
      stated: 0.8,
      runs: 1,
      sureness: "rough",
      words: "",
    });
    expect(suggestedBudget(range(1_621_734))).toBe("1.63");
    expect(suggestedBudget(range(3))).toBe("0.01");
  });
});
