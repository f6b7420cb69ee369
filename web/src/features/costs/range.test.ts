import { describe, expect, it } from "vitest";
import { bucketOf, bucketTitle, rangeOf, zoomed } from "./range";

const NOW = Date.parse("2026-11-16T14:30:00Z");

describe("the time range", () => {
  it("a preset ends today and has as many days as it says", () => {
    const { buckets, step } = rangeOf({ preset: "7d" }, "utc", NOW);
    expect(step).toBe("day");
    expect(buckets).toHaveLength(7);
    expect([buckets[0], buckets.at(-1)]).toEqual(["2026-11-10", "2026-11-16"]);
    expect(rangeOf({ preset: "month" }, "utc", NOW).buckets).toHaveLength(16);
  });

  it("24 hours end with the present one", () => {
    const { buckets } = rangeOf({ preset: "24h" }, "utc", NOW);
    expect(buckets).toHaveLength(24);
    expect(buckets.at(-1)).toBe("2026-11-16T14");
  });

  it("what the address says counts, unless it makes no sense", () => {
    const asked = { preset: "30d", from: "2026-11-02", to: "2026-11-04" } as const;
    expect(rangeOf(asked, "utc", NOW).buckets).toEqual(["2026-11-02", "2026-11-03", "2026-11-04"]);
    expect(rangeOf({ ...asked, to: "2026-11-01" }, "utc", NOW).buckets).toHaveLength(30);
    expect(rangeOf({ ...asked, from: "soon" }, "utc", NOW).buckets).toHaveLength(30);
    expect(rangeOf({ ...asked, to: "2026-11-04T10" }, "utc", NOW).buckets).toHaveLength(30);
  });

  it("a part of days are days, one day is its hours", () => {
    const range = rangeOf({ preset: "7d" }, "utc", NOW);
    expect(zoomed(range, 3, 1)).toEqual({ from: "2026-11-11", to: "2026-11-13" });
    expect(zoomed(range, 6, 6)).toEqual({ from: "2026-11-16T00", to: "2026-11-16T23" });
  });

  it("each moment is in the part that has its name", () => {
    expect(bucketOf(NOW, "day", "utc")).toBe("2026-11-16");
    expect(bucketOf(NOW, "hour", "utc")).toBe("2026-11-16T14");
    expect(bucketTitle("2026-11-16")).toBe("16 Nov");
    expect(bucketTitle("2026-11-16T14")).toBe("16 Nov, 14:00");
  });
});
