import { screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { renderPart } from "../../../tests/renderPart";
import type { Budget, ModelCall, UsageReport } from "../../api/types";
import type { Zone } from "./range";
import { Tiles } from "./Tiles";

const NOW = Date.parse("2026-11-16T12:00:00Z");

function budget(fields: Partial<Budget> = {}): Budget {
  return {
    id: "b1",
    scope: "tenant",
    period: "daily",
    capMicros: 5_000_000,
    warnPercent: 80,
    hardStop: true,
    gracePercent: 0,
    tell: [],
    spentMicros: 0,
    heldMicros: 0,
    startsAt: "2026-11-16T00:00:00Z",
    endsAt: "2026-11-17T00:00:00Z",
    createdAt: "2026-11-01T00:00:00Z",
    ...fields,
  };
}

const MONTHLY = budget({
  id: "b2",
  period: "monthly",
  capMicros: 200_000_000,
  endsAt: "2026-12-01T00:00:00Z",
});

/** What models cost on each day. */
const spentOn = (days: Record<string, number>) => {
  const rows = Object.entries(days).map(([day, costMicros]) => ({
    group: { day, kind: "models" },
    costMicros,
  }));
  return { rows } as unknown as UsageReport;
};

const TODAY = spentOn({ "2026-11-16": 1_000_000 });

interface Shown {
  budgets?: Budget[];
  usage?: UsageReport;
  calls?: ModelCall[];
  isCut?: boolean;
  zone?: Zone;
}

function show({ budgets = [], usage = TODAY, calls = [], isCut = false, zone = "utc" }: Shown) {
  const days = { today: "2026-11-16", month: "2026-11-01", rateFrom: "2026-11-10" };
  const data = { usage, calls, isCut, budgets, projectId: undefined };
  renderPart(<Tiles {...data} {...days} zone={zone} now={NOW} spentToday={1_000_000} />);
}

function tile(name: string) {
  const found = document.querySelector<HTMLElement>(`[data-tile="${name}"]`);
  if (!found) throw new Error(`no tile is called ${name}`);
  return within(found);
}

describe("K1 spending at a glance", () => {
  // The zone of the computer, not the one that the page is told.
  beforeEach(() => vi.stubEnv("TZ", "America/Los_Angeles"));
  afterEach(() => vi.unstubAllEnvs());

  it("without a budget says so", () => {
    show({});
    expect(tile("Today").getByText("since midnight in UTC")).toBeDefined();
    expect(tile("This month").getByText("no monthly budget")).toBeDefined();
    expect(tile("Forecast").getByText("No limit")).toBeDefined();
    expect(screen.queryByRole("meter")).toBeNull();
  });

  it("measures today by the daily budget, which is the forecast's where there is no other", () => {
    show({ budgets: [budget({ capMicros: 20_000_000 })] });
    expect(tile("Today").getByText("of $20.00, in UTC")).toBeDefined();
    const meter = screen.getByRole("meter", { name: "Budget of today" });
    expect(meter.getAttribute("aria-valuetext")).toBe("$1.00 of $20.00");
    expect(tile("This month").getByText("no monthly budget")).toBeDefined();
    expect(tile("Forecast").getByText("Lasts")).toBeDefined();
    expect(
      tile("Forecast").getByText("the daily budget, until it begins anew, 17 Nov 2026 in UTC"),
    ).toBeDefined();
  });

  it("tells the hour at which a daily budget ends, and that it is used up", () => {
    // Six dollars in half a day: four more are gone in eight hours.
    const usage = spentOn({ "2026-11-15": 12_000_000, "2026-11-16": 6_000_000 });
    show({ usage, budgets: [budget({ capMicros: 10_000_000 })] });
    expect(tile("Forecast").getByText("20:00 UTC")).toBeDefined();
    expect(tile("Forecast").getByText("then the daily budget is used up")).toBeDefined();
  });

  it("says what becomes of requests when the daily budget is used up", () => {
    show({ budgets: [budget({ capMicros: 1_000_000 })] });
    expect(tile("Forecast").getByText("the daily budget: requests are refused")).toBeDefined();
  });

  it("tells the day of the budget apart from the day of the reader", () => {
    show({ budgets: [budget()], zone: "local" });
    expect(tile("Today").getByText("since midnight here; $1.00 of $5.00 in UTC")).toBeDefined();
  });

  it("forecasts the month where there is such a budget, with days in UTC", () => {
    show({ budgets: [budget(), MONTHLY] });
    expect(screen.getAllByRole("meter")).toHaveLength(2);
    expect(tile("This month").getByText("of $200.00, in UTC")).toBeDefined();
    expect(tile("Forecast").getByText("until it begins anew, 1 Dec 2026 in UTC")).toBeDefined();
  });

  it("says that not all requests of the last hour were read", () => {
    show({ isCut: true });
    expect(tile("Last hour").getByText("Not all")).toBeDefined();
  });
});
