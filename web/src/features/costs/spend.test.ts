import { describe, expect, it } from "vitest";
import type { ModelCall, UsageReport, UsageTotals } from "../../api/types";
import { dollars } from "../../ui/format";
import { csvOf } from "./csv";
import { rangeOf } from "./range";
import { burnRate, cacheHit, cellsOfReport, forecast, splitsOf, sumOf } from "./spend";
import { ceiling, REST, seriesOf, stack } from "./stack";

const NOW = Date.parse("2026-11-16T12:00:00Z");
const DAY = 86_400_000;
const RANGE = rangeOf({ preset: "7d" }, "utc", NOW);

function call(fields: Partial<ModelCall>): ModelCall {
  return {
    id: "1",
    requestId: "1",
    attempt: 1,
    timestamp: "2026-11-16T10:00:00Z",
    userId: "u",
    dialect: "chat",
    asked: "m",
    provider: "p",
    model: "m",
    streamed: false,
    paidBy: "key",
    outcome: "ok",
    success: true,
    inputTokens: 10,
    cacheReadTokens: 30,
    cacheWriteTokens: 0,
    outputTokens: 5,
    reasoningTokens: 0,
    estimated: false,
    costMicros: 100,
    ...fields,
  };
}

function row(group: Record<string, string>, costMicros: number) {
  return { group, requests: 1, costMicros } as unknown as UsageReport["rows"][number];
}

const reportOf = (...rows: UsageReport["rows"]) => ({ rows }) as UsageReport;

describe("spending", () => {
  it("is the sum of what is in its range, to the millionth of a dollar", () => {
    const report = reportOf(
      row({ day: "2026-11-16", model: "m" }, 1),
      row({ day: "2026-11-16", model: "n" }, 2_000_003),
      row({ day: "2026-11-15", model: "m" }, 40),
      row({ day: "2026-10-01", model: "m" }, 9_999),
    );
    const cells = cellsOfReport(report, "model", RANGE);
    expect(sumOf(cells).costMicros).toBe(2_000_044);
    expect(splitsOf(cells).map(({ key }) => key)).toEqual(["n", "m"]);
    expect(cells.map(({ bucket }) => bucket)).toEqual(["2026-11-16", "2026-11-16", "2026-11-15"]);
  });

  it("by the hour only the hours of the range count, of the days that were asked for", () => {
    const range = rangeOf({ preset: "24h" }, "utc", NOW);
    const report = reportOf(
      row({ hour: "2026-11-15T12", model: "m" }, 5),
      row({ hour: "2026-11-15T13", model: "m" }, 7),
      row({ hour: "2026-11-16T12", model: "m" }, 9),
    );
    expect(sumOf(cellsOfReport(report, "model", range)).costMicros).toBe(16);
  });

  it("can be that of none: of no agent", () => {
    const report = reportOf(
      row({ day: "2026-11-16", model: "m", agent: "" }, 1),
      row({ day: "2026-11-16", model: "m", agent: "a" }, 10),
    );
    const [cell, ...more] = cellsOfReport(report, "model", RANGE, "agent");
    expect([cell?.key, cell?.totals.costMicros, more]).toEqual(["m", 1, []]);
  });

  it("the part that a cache knew is of all input", () => {
    expect(cacheHit(call({}))).toBe(0.75);
    expect(cacheHit(call({ inputTokens: 0, cacheReadTokens: 0 }))).toBeUndefined();
  });

  it("the rate begins with the first day that cost something", () => {
    const report = reportOf(row({ day: "2026-11-15", model: "m" }, 300));
    const cells = cellsOfReport(report, "model", RANGE);
    expect(burnRate(cells, NOW)).toEqual({ microsPerDay: 200, days: 2 });
    expect(burnRate([], NOW)).toEqual({ microsPerDay: 0, days: 0 });
  });

  it("the forecast is a date only if the money ends before the budget begins anew", () => {
    const known = { capMicros: 1_000, spentMicros: 400, microsPerDay: 100, now: NOW };
    expect(forecast({ ...known, endsAt: NOW + 10 * DAY })).toEqual({
      kind: "ends",
      at: NOW + 6 * DAY,
    });
    expect(forecast({ ...known, endsAt: NOW + 3 * DAY })).toEqual({ kind: "lasts" });
    expect(forecast({ ...known, spentMicros: 1_000, endsAt: undefined })).toEqual({ kind: "over" });
    expect(forecast({ ...known, capMicros: undefined, endsAt: undefined })).toEqual({
      kind: "unlimited",
    });
  });
});

describe("the chart", () => {
  const cells = Array.from({ length: 9 }, (_, at) => ({
    bucket: RANGE.buckets[at % 7] ?? "",
    key: `model-${at}`,
    totals: { costMicros: 100 - at } as UsageTotals,
  }));

  it("has six bands, the last one for all others, and loses nothing", () => {
    const series = seriesOf(cells, splitsOf(cells), RANGE.buckets, (key) => key);
    expect(series.map(({ key }) => key)).toEqual([
      "model-0",
      "model-1",
      "model-2",
      "model-3",
      "model-4",
      REST,
    ]);
    const top = stack(series).at(-1)?.upper ?? [];
    expect(top.reduce((sum, value) => sum + value, 0)).toBe(sumOf(cells).costMicros);
  });

  it("ends at a round number", () => {
    expect([0, 1, 37, 61, 95, 180].map(ceiling)).toEqual([1, 1, 40, 80, 100, 200]);
  });
});

describe("CSV", () => {
  it("keeps every digit, and no text becomes a formula", () => {
    expect(dollars(185)).toBe("0.000185");
    expect(dollars(12_000_003)).toBe("12.000003");
    const text = csvOf(
      ["name", "cost"],
      [
        ['=cmd("x")', 1],
        ["a,b", 2],
      ],
    );
    expect(text).toBe('name,cost\r\n"\'=cmd(""x"")",1\r\n"a,b",2\r\n');
  });
});
