import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { fakeServer, ok, refuse } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import { Follow } from "./Follow";

const COSTS = "GET /proxy/v1/usage?groupBy=bead&from=2020-01-01";
const cost = (bead: string, costMicros: number) => ({ group: { bead }, costMicros });
const bead = (id: string) => ({ id, title: id, status: "open", agent: null });

/** A server on which a convoy of two beads runs. */
function world(run: object, costs: () => ReturnType<typeof ok>) {
  const at = "GET /api/v1/convoys/c1";
  fakeServer({
    [`${at}?projectId=p`]: () => ok({ id: "c1", name: "Night" }),
    [`${at}/run?projectId=p`]: () => ok({ state: "running", running: 1, ...run }),
    [`${at}/waves?projectId=p`]: () => ok({ waves: [[bead("b-1")], [bead("b-2")]] }),
    [COSTS]: costs,
  });
  renderPart(<Follow convoy="c1" projectId="p" />);
}

it("C4 what its beads cost is told while it runs, of what it may cost", async () => {
  const rows = [cost("b-1", 200_000), cost("b-2", 50_000), cost("b-3", 9_000_000)];
  world({ budgetMicros: 3_000_000 }, () => ok({ rows }));
  await screen.findByText("$0.2500 of $3.00 spent");
  const bar = screen.getByRole("meter", { name: "Spent of the budget" });
  expect(bar.getAttribute("aria-valuenow")).toBe("8");
});

it("C4 without a budget it is told alone", async () => {
  world({}, () => ok({ rows: [] }));
  await screen.findByText("$0.00 spent");
  expect(screen.queryByRole("meter")).toBeNull();
});

it("G14 who may not know the costs follows it without them", async () => {
  world({}, () => refuse(403, "forbidden", "no"));
  await screen.findByText(/^0 of 2 beads done/);
  await expect.poll(() => document.querySelector("[data-spent]")).toBeNull();
});
