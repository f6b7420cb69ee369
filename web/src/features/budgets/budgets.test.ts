import { describe, expect, it } from "vitest";
import { microsOf, scopeParts, setCli } from "./budgets";

describe("budgets", () => {
  it("an amount is exact, and anything else is none", () => {
    expect(["5", "$0.25", "0.000001", " 12.5 "].map(microsOf)).toEqual([
      5_000_000, 250_000, 1, 12_500_000,
    ]);
    expect(["", "0", "-1", "1,5", "0.0000001", "many"].map(microsOf)).toEqual(
      Array(6).fill(undefined),
    );
  });

  it("the command line says the same", () => {
    expect(setCli("tenant", "monthly", 200_000_000, 80)).toBe("godel budget set tenant 200/month");
    expect(setCli("agent:b", "daily", 500_000, 75)).toBe(
      "godel budget set agent:b 0.5/day --warn 75",
    );
    expect(setCli("bead:x", "total", 3_000_000, 80)).toBe("godel budget set bead:x 3");
  });

  it("a scope is a kind and a name", () => {
    expect(scopeParts("tenant")).toEqual({ kind: "tenant", name: "" });
    expect(scopeParts("agent:a:b")).toEqual({ kind: "agent", name: "a:b" });
  });
});
