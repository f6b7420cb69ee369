import { QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { fakeAgent } from "../../../tests/fakeAgent";
import { fakeServer, ok, refuse } from "../../../tests/fakeServer";
import type { BudgetTrial } from "../../api/types";
import { newQueryClient } from "../../queryClient";
import { Trial } from "./Trial";
import { momentTitle, tellTrial, tryCli } from "./trial";

function fakeTrial(special: Partial<BudgetTrial> = {}): BudgetTrial {
  return {
    from: "2026-11-10T12:00:00Z",
    to: "2026-11-17T12:00:00Z",
    requests: 40,
    spentMicros: 1_200_000,
    stops: [],
    isWhole: true,
    ...special,
  };
}

const STOPS = [
  {
    at: "2026-11-16T10:32:00Z",
    requests: 8,
    costMicros: 300_000,
    agentCount: 2,
    agents: ["builder-1", "builder-2"],
  },
  {
    at: "2026-11-17T09:00:00Z",
    requests: 4,
    costMicros: 40_000,
    agentCount: 2,
    agents: ["builder-2", "worker-1"],
  },
];

describe("the trial of a budget", () => {
  const when = () => "Mon 10:32";

  it("tells whom it would have stopped, each agent once", () => {
    expect(tellTrial(fakeTrial({ stops: STOPS }), when)).toBe(
      "In the past 7 days this would have stopped 3 agents: 12 requests for $0.3400 refused, first on Mon 10:32.",
    );
    const many = STOPS.map((stop) => ({ ...stop, agentCount: 70 }));
    expect(tellTrial(fakeTrial({ stops: many }), when)).toContain("stopped at least 70 agents:");
    const nobody = STOPS.map((stop) => ({ ...stop, agentCount: 0, agents: [] }));
    expect(tellTrial(fakeTrial({ stops: nobody }), when)).toContain(
      "this would have refused 12 requests for $0.3400, first on Mon 10:32.",
    );
  });

  it("tells what was spent if it would have stopped nothing", () => {
    expect(tellTrial(fakeTrial(), when)).toBe(
      "In the past 7 days this would have stopped nothing: $1.20 were spent.",
    );
    const quiet = fakeTrial({ from: "2026-11-16T12:00:00Z", spentMicros: 0 });
    expect(tellTrial(quiet, when)).toBe(
      "In the past day this would have stopped nothing: nothing was spent.",
    );
  });

  it("names a moment by its day of the week, or by its date if it is longer ago", () => {
    const now = Date.parse("2026-11-17T12:00:00Z");
    expect(momentTitle("2026-11-16T10:32:00Z", now, "UTC")).toBe("Mon 10:32");
    expect(momentTitle("2026-11-02T10:32:00Z", now, "UTC")).toBe("Mon 2 Nov 10:32");
  });

  it("the command line says the same", () => {
    expect(tryCli("agent:b", "daily", 500_000, "31")).toBe(
      "godel budget try agent:b 0.5/day --days 31",
    );
  });

  const show = (limit: { hardStop?: boolean; gracePercent?: number } = {}) =>
    render(
      <QueryClientProvider client={newQueryClient()}>
        <Trial
          scope="tenant"
          period="daily"
          capMicros={500_000}
          hardStop={limit.hardStop ?? true}
          gracePercent={limit.gracePercent ?? 0}
        />
      </QueryClientProvider>,
    );

  it("K3 asks for as many days as chosen, links agents that are known, and says what is missing", async () => {
    const calls = fakeServer({
      "POST /api/v1/budgets/trial": () => ok(fakeTrial({ stops: STOPS, isWhole: false })),
      "GET /api/v1/agents?limit=1000": () =>
        ok({ items: [fakeAgent()], pagination: { cursor: null, hasMore: false } }),
    });
    show();
    await screen.findByText(/this would have stopped 3 agents/);
    screen.getByText(/too many requests/);
    const link = await screen.findByRole("link", { name: "worker-1" });
    expect(link.getAttribute("href")).toBe("/dashboard/agents/a1");
    expect(screen.queryByRole("link", { name: "builder-1" })).toBeNull();
    await userEvent.setup().click(screen.getByRole("button", { name: "31 days" }));
    screen.getByText("godel budget try tenant 0.5/day --days 31");
    const asked = () =>
      calls.filter(({ method }) => method === "POST").map(({ body }) => body) as object[];
    await expect
      .poll(() => asked().at(-1))
      .toEqual({
        scope: "tenant",
        period: "daily",
        capMicros: 500_000,
        pastDays: 31,
      });
  });

  it("K3 a grace is part of what is tried", async () => {
    const calls = fakeServer({ "POST /api/v1/budgets/trial": () => ok(fakeTrial()) });
    show({ gracePercent: 10 });
    await screen.findByText(/this would have stopped nothing: \$1\.20 were spent/);
    expect(calls.map(({ body }) => body)).toEqual([
      { scope: "tenant", period: "daily", capMicros: 550_000, pastDays: 7 },
    ]);
    screen.getByText("godel budget try tenant 0.55/day --days 7");
  });

  it("K3 without a hard stop nothing is asked: it would only have told", () => {
    const calls = fakeServer({});
    show({ hardStop: false, gracePercent: 10 });
    screen.getByText("This would have stopped nothing: it only tells.");
    expect(calls).toEqual([]);
  });

  it("says why it cannot be tried", async () => {
    fakeServer({
      "POST /api/v1/budgets/trial": () => refuse(404, "token_not_found", "there is no token x"),
    });
    show();
    await screen.findByText(/It cannot be tried: There is no token x\./);
  });
});
