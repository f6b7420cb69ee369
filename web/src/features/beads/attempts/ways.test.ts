import { describe, expect, it } from "vitest";
import { EMPTY_WAYS, waysCli, waysFault, waysOf } from "./ways";

describe("how a bead is tried several ways", () => {
  it("leaves to the server what nobody said", () => {
    expect(waysOf(EMPTY_WAYS)).toEqual({});
    expect(waysCli("app-1", EMPTY_WAYS)).toBe("godel attempt start app-1");
  });

  it("says how many, with what and for how much", () => {
    const ways = { many: "4", models: "claude-opus-4-8, gpt-5.2", harness: "native", budget: "10" };
    expect(waysOf(ways)).toEqual({
      attempts: 4,
      models: ["claude-opus-4-8", "gpt-5.2"],
      harness: "native",
      budgetMicros: 10_000_000,
    });
    expect(waysCli("app-1", ways)).toBe(
      "godel attempt start app-1 --attempts 4 --models claude-opus-4-8,gpt-5.2 --harness native --budget 10",
    );
  });

  it.each(["1", "9", "many"])("refuses %s ways", (many) => {
    expect(waysFault({ ...EMPTY_WAYS, many })).toBe("Write a number from 2 to 8.");
  });
});
