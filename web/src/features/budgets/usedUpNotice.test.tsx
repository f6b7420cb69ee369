import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { fakeServer, ok } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import type { Budget } from "../../api/types";
import { TryDrawer } from "../beads/attempts/TryDrawer";

const BUDGET: Budget = {
  ...{ id: "b1", scope: "bead:app-1", period: "daily", warnPercent: 80, heldMicros: 0 },
  ...{ capMicros: 5_000_000, spentMicros: 5_200_000 },
  ...{ startsAt: "2026-11-01T00:00:00Z", createdAt: "2026-11-01T00:00:00Z" },
};

function show(budgets: readonly Budget[]) {
  fakeServer({
    "GET /api/v1/budgets": () => ok({ items: budgets }),
    "GET /api/v1/projects?limit=100": () => ok({ items: [], pagination: { hasMore: false } }),
    "GET /api/v1/users?limit=100": () => ok({ items: [], pagination: { hasMore: false } }),
  });
  renderPart(<TryDrawer bead={{ id: "app-1", projectId: "p1" }} onClose={() => undefined} />);
}

it("A4 whoever lets several agents try a bead is told that its budget is used up", async () => {
  show([BUDGET, { ...BUDGET, id: "b2", scope: "bead:app-2", spentMicros: 9_000_000 }]);
  const told = await screen.findByText(/is used up: \$5\.20 of \$5\.00 is spent/);
  expect(told.textContent).not.toContain("$9.00");
});

it("A4 with money left nothing is told", async () => {
  show([{ ...BUDGET, spentMicros: 100 }]);
  await screen.findByLabelText("How many ways");
  await new Promise((wait) => setTimeout(wait, 50));
  expect(screen.queryByText(/is used up/)).toBeNull();
});
