import { describe, expect, it } from "vitest";
import type { ModelCall, UsageTotals } from "../../api/types";
import { csvOf, dollars } from "./csv";
import { rangeOf } from "./range";
import { burnRate, cacheHit, cellsOfCalls, forecast, splitsOf, sumOf } from "./spend";
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

describe("spending", () => {
  it("is the sum of its requests, to the millionth of a dollar", () => {
    const calls = [
      call({ costMicros: 1 }),
      call({ model: "n", costMicros: 2_000_003 }),
      call({ timestamp: "2026-11-15T23:59:59.999Z", costMicros: 40 }),
      call({ timestamp: "2026-10-01T00:00:00Z", costMicros: 9_999 }),
      call({ outcome: "open", costMicros: 9_999 }),
    ];
    const cells = cellsOfCalls(calls, "model", RANGE, "utc");
    expect(sumOf(cells).costMicros).toBe(2_000_044);
    expect(splitsOf(cells).map(({ key }) => key)).toEqual(["n", "m"]);
    expect(cells.map(({ bucket }) => bucket).toSorted()).toEqual([
      "2026-11-15",
      "2026-11-16",
      "2026-11-16",
    ]);
  });

  it("what has no price, a subscription and the cache are counted apart", () => {
    const calls = [
      call({ costMicros: null }),
      call({ costMicros: null, paidBy: "login" }),
      call({ costMicros: 0, paidBy: "cache" }),
      call({ success: false, outcome: "failed", costMicros: 0 }),
    ];
    const { requests, unpriced, byLogin, fromCache, failed } = sumOf(
      cellsOfCalls(calls, "model", RANGE, "utc"),
    );
    expect({ requests, unpriced, byLogin, fromCache, failed }).toEqual({
      requests: 3,
      unpriced: 1,
      byLogin: 1,
      fromCache: 1,
      failed: 1,
    });
  });

  it("the part that a cache knew is of all input", () => {
    expect(cacheHit(call({}))).toBe(0.75);
    expect(cacheHit(call({ inputTokens: 0, cacheReadTokens: 0 }))).toBeUndefined();
  });

  it("the rate begins with the first day that cost something", () => {
    const cells = cellsOfCalls(
      [call({ timestamp: "2026-11-15T08:00:00Z", costMicros: 300 })],
      "model",
      RANGE,
      "utc",
    );
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
