import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fakeServer, ok } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import type { ModelCall, UsageReport, UsageTotals } from "../../api/types";
import { CallPeek } from "./CallPeek";
import { rangeOf } from "./range";
import { Savings } from "./Savings";
import { SplitTable, splitCsv } from "./SplitTable";
import { savedOf, savingsOf, tellParts, tellPrice, tellSaving } from "./savings";
import { cellsOfReport, splitsOf, sumOf } from "./spend";

const RANGE = rangeOf({ preset: "7d" }, "utc", Date.parse("2026-11-16T12:00:00Z"));

function totals(fields: Partial<UsageTotals> = {}): UsageTotals {
  return {
    requests: 1,
    failed: 0,
    unpriced: 0,
    byLogin: 0,
    fromCache: 0,
    estimated: 0,
    inputTokens: 10,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 5,
    reasoningTokens: 0,
    costMicros: 100,
    savedByCacheMicros: 0,
    savedByRoutingMicros: 0,
    ...fields,
  };
}

describe("K2 savings", () => {
  it("are summed from the report like costs", () => {
    const row = (model: string, fields: Partial<UsageTotals>) => ({
      group: { day: "2026-11-16", model },
      ...totals(fields),
    });
    const rows = [
      row("a", { savedByCacheMicros: 185, savedByRoutingMicros: 7 }),
      row("b", { savedByCacheMicros: -750 }),
    ];
    const splits = splitsOf(cellsOfReport({ rows } as unknown as UsageReport, "model", RANGE));
    expect(sumOf(splits)).toMatchObject({ savedByCacheMicros: -565, savedByRoutingMicros: 7 });
    expect(splits.map((split) => savedOf(split.totals))).toEqual([192, -750]);
    expect(savedOf({})).toBe(0);
  });

  it("are told to the last digit, and in words where they cost more", () => {
    expect([185, -750, 0, undefined].map(tellSaving)).toEqual([
      "$0.000185",
      "cost $0.000750 more",
      "",
      "",
    ]);
    expect(tellParts({ savedByCacheMicros: -750, savedByRoutingMicros: 7 })).toBe(
      "By caches: cost $0.000750 more; by routing: $0.000007",
    );
  });

  it("of a time are a number with how it came about, or a dash with the reason", () => {
    const value = (fields: Partial<UsageTotals>) =>
      savingsOf(totals(fields)).map((one) => one.value);
    const why = (fields: Partial<UsageTotals>) => savingsOf(totals(fields)).map((one) => one.why);
    expect(value({ savedByCacheMicros: 1_200_000, savedByRoutingMicros: -500 })).toEqual([
      "$1.20",
      "nothing, it cost $0.0005 more",
    ]);
    expect(value({})).toEqual(["-", "-"]);
    expect(why({})).toEqual([
      "No cache was used in this time.",
      "No model was chosen by its price in this time.",
    ]);
    expect(why({ fromCache: 1 })[0]).toMatch(/^What was read from caches saved as much/);
    expect(why({ savedByCacheMicros: -1 })[0]).toMatch(/^What was written to caches cost more/);
  });

  it("have their explanation where a screen reader finds it", () => {
    render(<Savings totals={totals({ savedByCacheMicros: 1_200_000 })} />);
    const [cache, routing] = screen.getAllByRole("note");
    expect([cache?.textContent, routing?.textContent]).toEqual(["$1.20", "-"]);
    const told = document.getElementById(cache?.getAttribute("aria-describedby") ?? "");
    expect(told?.textContent).toMatch(/^\$1\.200000\. Input that a provider's cache knew/);
  });
});

describe("K4 the CSV equals the table, savings included", () => {
  const splits = [
    { key: "a", totals: totals({ savedByCacheMicros: 185, savedByRoutingMicros: 7 }) },
    { key: "b", totals: totals({ savedByCacheMicros: -750 }) },
    { key: "c", totals: totals() },
  ];
  const title = (key: string) => key.toUpperCase();

  it("has both kinds as columns of their own", () => {
    const [head, ...lines] = splitCsv("model", splits, title).trim().split("\r\n");
    const names = head?.split(",") ?? [];
    expect(names.slice(-2)).toEqual(["savedByCacheMicros", "savedByRoutingMicros"]);
    const cells = lines.map((line) => line.split(","));
    expect(cells.map((line) => line.slice(-2))).toEqual([
      ["185", "7"],
      ["-750", "0"],
      ["0", "0"],
    ]);
    const sums = cells.map((line) => line.slice(-2).reduce((sum, part) => sum + Number(part), 0));
    renderPart(<SplitTable kind="model" splits={splits} range={RANGE} titleOf={title} />);
    const shown = [...document.querySelectorAll("[data-saved]")];
    expect(shown.map((cell) => Number(cell.getAttribute("data-saved")))).toEqual(sums);
    expect(shown.map((cell) => cell.textContent)).toEqual(["$0.0002", "-$0.0008", "-"]);
    screen.getByTitle("By caches: $0.000185; by routing: $0.000007");
  });
});

describe("K2 the price of a request", () => {
  it("says what its name means", () => {
    expect(tellPrice("2025-09-29 $3/$15")).toBe(
      "$3 for a million tokens of input and $15 of output, from 2025-09-29 on.",
    );
    expect(tellPrice("$9/$9.5 above 200000")).toBe(
      "$9 for a million tokens of input and $9.5 of output, with more than 200,000 of input.",
    );
    expect(tellPrice("of old")).toMatch(/^Dollars for a million tokens/);
  });

  const call = {
    id: "c1",
    ...{ model: "m", asked: "m", provider: "p", attempt: 1, userId: "u1", paidBy: "key" },
    ...{ timestamp: "2026-11-16T10:00:00Z", outcome: "ok", success: true, costMicros: 100 },
    ...{ inputTokens: 1, cacheReadTokens: 1, cacheWriteTokens: 1, outputTokens: 1 },
    reasoningTokens: 0,
  } as ModelCall;
  const show = (fields: Partial<ModelCall>) => {
    const page = ok({ items: [], pagination: { cursor: null, hasMore: false } });
    fakeServer({
      "GET /proxy/v1/audit/c1": () => ok({ ...call, ...fields }),
      "GET /api/v1/users?limit=100": () => page,
      "GET /api/v1/projects?limit=100": () => page,
    });
    renderPart(<CallPeek id="c1" onClose={() => undefined} />);
  };

  it("is in its panel, with what was saved", async () => {
    show({
      price: "2025-09-29 $3/$15",
      savedByCacheMicros: -750,
      savedByRoutingMicros: 185,
    });
    await screen.findByText("2025-09-29 $3/$15");
    screen.getByText(/^Price version: \$3 for a million tokens of input/);
    screen.getByText("cost $0.000750 more");
    screen.getByText("$0.000185");
  });

  it("is not there if it is not known, and neither is what was not saved", async () => {
    show({ savedByCacheMicros: 0, savedByRoutingMicros: 0 });
    await screen.findByText("Cache hit");
    expect(screen.queryByText(/Price version/)).toBeNull();
    expect(screen.queryByText(/^Saved by/)).toBeNull();
  });
});
