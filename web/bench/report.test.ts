import { describe, expect, it } from "vitest";
import { differences } from "./measure";
import { parseOptions } from "./options";
import { numberIn } from "./pages";
import { exitCodeOf, type Row, tableOf } from "./report";

const row = (special: Partial<Row>): Row => ({
  part: "beads",
  what: "longest frame",
  value: 120,
  unit: "ms",
  ...special,
});

describe("the report", () => {
  it("ends with 0 if all bars are met, 1 if one is missed, 2 if one could not be measured", () => {
    expect(exitCodeOf([row({ below: 200 }), row({}), row({ value: 0, exactly: 0 })])).toBe(0);
    expect(exitCodeOf([row({ below: 200 }), row({ below: 120 })])).toBe(1);
    expect(exitCodeOf([row({ least: 130 })])).toBe(1);
    expect(exitCodeOf([row({ below: 100 }), row({ value: undefined, below: 1 })])).toBe(2);
    expect(exitCodeOf([row({ value: Number.NaN, exactly: 0 })])).toBe(2);
  });

  it("has each number beside its bar", () => {
    const [, line] = tableOf([row({ below: 100, note: "40 ms without events" })]).split("\n");
    expect(line?.split(/ {2,}/)).toEqual([
      ...["beads", "longest frame", "120 ms", "under 100 ms", "NO", "40 ms without events"],
    ]);
  });
});

describe("the benchmark", () => {
  it("says which sums of a page differ from the API, also those that are on one side only", () => {
    expect(differences({ all: 3, open: 2 }, { all: 3, open: 2 })).toEqual([]);
    expect(differences({ all: 3 }, { all: 4, done: 1 })).toHaveLength(2);
  });

  it("reads numbers as people write them", () => {
    expect(numberIn("Beads\n10,000 beads")).toBe(10_000);
    expect(numberIn("1 agent")).toBe(1);
    expect(numberIn("nothing")).toBeNaN();
  });

  it("takes pages and numbers, and refuses the rest", () => {
    const known = ["agents", "beads"];
    expect(parseOptions([], known)).toMatchObject({ agents: 1_000, beads: 10_000, pages: known });
    expect(parseOptions(["beads", "--seconds", "5", "--json"], known)).toMatchObject({
      pages: ["beads"],
      seconds: 5,
      json: true,
    });
    expect(() => parseOptions(["--seconds"], known)).toThrow("needs a number");
    expect(() => parseOptions(["bead"], known)).toThrow("not known");
  });
});
