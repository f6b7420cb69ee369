import { fireEvent, screen } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";
import { DEVELOPER, fakeServer, ok, refuse, SESSION } from "../../../../tests/fakeServer";
import { renderPart } from "../../../../tests/renderPart";
import type { Budget } from "../../../api/types";
import { bead } from "../../beads/fakeBead";
import { SpawnDrawer } from "./SpawnDrawer";

const BUDGET: Budget = {
  id: "b1",
  scope: "project:p2",
  period: "daily",
  capMicros: 5_000_000,
  warnPercent: 80,
  spentMicros: 5_200_000,
  heldMicros: 0,
  startsAt: "2026-11-01T00:00:00Z",
  createdAt: "2026-11-01T00:00:00Z",
};
const page = (items: unknown[]) => ok({ items, pagination: { cursor: null, hasMore: false } });
const READY = `GET /api/v1/beads?${new URLSearchParams({ limit: "100", filter: '{"status":"open"}' })}`;
const project = (id: string, name: string) => ({ id, name, repository: `/repos/${name}` });

function world(budgets: readonly Budget[]) {
  return fakeServer({
    "GET /api/v1/budgets": () => ok({ items: budgets }),
    "GET /api/v1/projects?limit=100": () => page([project("p1", "shop"), project("p2", "lab")]),
    "GET /api/v1/users?limit=100": () => page([]),
    "GET /api/v1/runtimes": () => ok({ items: [] }),
    "GET /api/v1/roles": () => ok({ items: [] }),
    "GET /api/v1/agents?limit=1000": () => page([]),
    [READY]: () => page([bead("b-2", { projectId: "p2" })]),
  });
}

const field = () => screen.getByLabelText("Budget in dollars");
/** What the field says of itself, to a screen reader as well. */
const said = () => document.getElementById(field().getAttribute("aria-describedby") ?? "");

beforeEach(() => {
  sessionStorage.clear();
  localStorage.clear();
});

it("A4 a budget that is used up is told at the field before anything is sent", async () => {
  const calls = world([{ ...BUDGET, scope: "tenant" }]);
  renderPart(<SpawnDrawer onClose={() => undefined} />);
  await expect
    .poll(() => said()?.textContent)
    .toBe(
      "The budget “Everything, each day” is used up: $5.20 of $5.00 is spent. Requests of the agent would be refused. Open the budgets",
    );
  const link = screen.getByRole<HTMLAnchorElement>("link", { name: "Open the budgets" });
  expect(link.getAttribute("href")).toContain("/costs?tab=budgets");
  expect(calls.every(({ method }) => method === "GET")).toBe(true);
  // It warns, and the server decides.
  expect(screen.getByRole("button", { name: "Spawn" }).getAttribute("aria-disabled")).toBeNull();
});

it("A4 the budget of a project counts for its beads, and for no others", async () => {
  world([BUDGET]);
  renderPart(<SpawnDrawer onClose={() => undefined} />);
  // The choice is there once the projects are.
  const choice = await screen.findByLabelText("Project");
  expect(said()).toBeNull();
  fireEvent.change(choice, { target: { value: "p2" } });
  await expect.poll(() => said()?.textContent).toContain("“Project lab, each day” is used up");
  fireEvent.change(choice, { target: { value: "p1" } });
  expect(said()).toBeNull();
  fireEvent.change(choice, { target: { value: "" } });
  fireEvent.change(screen.getByLabelText("Bead"), { target: { value: "b-2" } });
  await expect.poll(() => said()?.textContent).toContain("“Project lab, each day” is used up");
});

it("A4 who may not read costs is not told of them, and nothing is asked for", async () => {
  const calls = world([{ ...BUDGET, scope: "tenant" }]);
  renderPart(<SpawnDrawer onClose={() => undefined} />, { ...DEVELOPER, userId: SESSION.userId });
  await screen.findByLabelText("Project");
  expect(calls.map(({ path }) => path)).not.toContain("/api/v1/budgets");
  expect(said()).toBeNull();
});

it("A4 a refusal about a field that is not asked for is told above all of them", async () => {
  const why = "no project has a repository yet";
  fakeServer({
    "GET /api/v1/budgets": () => ok({ items: [] }),
    "GET /api/v1/projects?limit=100": () => page([]),
    "GET /api/v1/users?limit=100": () => page([]),
    "GET /api/v1/runtimes": () => ok({ items: [] }),
    "GET /api/v1/roles": () => ok({ items: [] }),
    "GET /api/v1/agents?limit=1000": () => page([]),
    [READY]: () => page([]),
    "POST /api/v1/agents": () => refuse(400, "invalid_field", why),
  });
  renderPart(<SpawnDrawer onClose={() => undefined} />);
  fireEvent.change(screen.getByLabelText("Task"), { target: { value: "Do it" } });
  fireEvent.click(screen.getByRole("button", { name: "Spawn" }));
  const told = await screen.findByRole("alert");
  expect(told.textContent?.toLowerCase()).toContain(why);
});
