import { describe, expect, it } from "vitest";
import type { RuntimeInfo, RuntimeList } from "../../api/types";
import { insideOf } from "./SplitTable";
import type { Split } from "./spend";
import { spentOn } from "./spentOn";

const split = (key: string, costMicros: number) => ({ key, totals: { costMicros } }) as Split;
const rates = (fields: Partial<RuntimeList>, hourMicros?: number): RuntimeList => ({
  items: [{ name: "gvisor", hourMicros } as RuntimeInfo],
  ...fields,
});

describe("K2 what money was spent on", () => {
  it("is a dash with the reason where nobody says what it costs", () => {
    const told = spentOn([split("models", 1_200_000)], rates({}));
    expect(told.map(({ value }) => value)).toEqual(["$1.20", "-", "-"]);
    expect(told[0]?.why).toBe("$1.200000. Each request by its own price.");
    expect(told[1]?.why).toMatch(/^No rate is set/);
  });

  it("says the rate, and zero where it is set and nothing was used", () => {
    const told = spentOn([split("storage", 40)], rates({ storageGbMonthMicros: 80_000 }, 109_000));
    expect(told.map(({ micros }) => micros)).toEqual([0, 0, 40]);
    expect(told[1]?.value).toBe("$0.00");
    expect(told[1]?.why).toContain("$0.1090 in gvisor");
    expect(told[2]?.why).toMatch(/^\$0\.000040\. A gigabyte of snapshots costs \$0\.0800 a month/);
  });

  it("was paid under rates that were taken away since", () => {
    expect(spentOn([split("runtime", 5_000)], undefined)[1]).toMatchObject({
      micros: 5_000,
      value: "$0.0050",
    });
  });

  it("is looked into where it has an inside", () => {
    expect(insideOf("kind", "models")).toEqual({ tab: "requests" });
    expect(insideOf("kind", "runtime")).toEqual({ provider: "runtime", by: "agent" });
    expect(insideOf("kind", "storage")).toEqual({ provider: "storage", by: "project" });
    expect(insideOf("provider", "runtime")).toEqual({ provider: "runtime", by: "agent" });
    expect(insideOf("model", "m")).toEqual({ model: "m", tab: "requests" });
    expect(insideOf("team", "")).toEqual({ without: "team", tab: "requests" });
  });
});
