import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { fakeServer, ok, refuse, SESSION } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import type { Budget } from "../../api/types";
import { BudgetDrawer } from "./BudgetDrawer";

const BUDGET: Budget = {
  id: "b1",
  scope: "tenant",
  period: "monthly",
  capMicros: 200_000_000,
  warnPercent: 80,
  hardStop: true,
  gracePercent: 0,
  tell: [],
  spentMicros: 0,
  heldMicros: 0,
  startsAt: "2026-11-01T00:00:00Z",
  createdAt: "2026-11-01T00:00:00Z",
};
const TRIAL = {
  from: "2026-11-10T12:00:00Z",
  to: "2026-11-17T12:00:00Z",
  requests: 0,
  spentMicros: 0,
  stops: [],
  isWhole: true,
};
const person = (id: string, name: string, status = "active") => ({ id, name, status });
const page = (items: unknown[]) => ok({ items, pagination: { cursor: null, hasMore: false } });

/** A server with people, which answers a change as given. */
function world(answer: () => ReturnType<typeof ok> = () => ok(BUDGET), people = PEOPLE) {
  return fakeServer({
    "GET /api/v1/users?limit=100": () => page(people),
    "GET /api/v1/projects?limit=100": () => page([]),
    "POST /api/v1/budgets/trial": () => ok(TRIAL),
    "PUT /api/v1/budgets": answer,
  });
}
const PEOPLE = [person("u1", "ada"), person("u2", "grace"), person("u3", "old", "disabled")];

function show(budget: Budget | undefined = BUDGET) {
  sessionStorage.clear();
  localStorage.clear();
  const onClose = vi.fn();
  renderPart(<BudgetDrawer budget={budget} onClose={onClose} />);
  return { onClose, user: userEvent.setup() };
}
const send = () => screen.getByRole("button", { name: "Change the budget" });

describe("K3 the form of a budget", () => {
  it("sets a grace and who is told, and says from where on requests are refused", async () => {
    const calls = world();
    const { user, onClose } = show();
    const grace = screen.getByLabelText("Grace, in percent");
    screen.getByText("Requests are refused from $200.00 on.");
    await user.clear(grace);
    await user.type(grace, "10");
    screen.getByText("Requests are refused from $220.00 on.");
    const differs = within(screen.getByRole("region", { name: "What will be different" }));
    expect(differs.getAllByRole("term").map((term) => term.textContent)).toEqual(["Grace"]);
    differs.getByText("0%");
    differs.getByText("10%");
    await user.selectOptions(screen.getByLabelText("Who is told"), "some");
    expect((send() as HTMLButtonElement).disabled).toBe(true);
    const people = screen.getByRole("group", { name: "People who are told" });
    await user.click(await within(people).findByLabelText("ada"));
    expect(within(people).queryByLabelText("old")).toBeNull();
    screen.getByText("godel budget set tenant 200/month --grace 10 --tell ada");
    await user.click(send());
    await expect.poll(() => onClose.mock.calls.length).toBe(1);
    const { scope, period, capMicros, warnPercent } = BUDGET;
    expect(calls.find(({ method }) => method === "PUT")?.body).toEqual({
      ...{ scope, period, capMicros, warnPercent },
      ...{ hardStop: true, gracePercent: 10, tell: ["u1"] },
    });
  });

  it("without a hard stop there is no grace, and it would have stopped nothing", async () => {
    const calls = world();
    const { user } = show({ ...BUDGET, gracePercent: 10, tell: ["u2"] });
    await user.selectOptions(screen.getByLabelText("Hard stop"), "off");
    const grace = screen.getByLabelText("Grace, in percent") as HTMLInputElement;
    expect(grace.disabled).toBe(true);
    screen.getByText(/^The hard stop is off/);
    screen.getByText("This would have stopped nothing: it only tells.");
    await user.selectOptions(screen.getByLabelText("Who is told"), "all");
    screen.getByText("godel budget set tenant 200/month --alert-only --tell-all");
    await user.click(send());
    await expect
      .poll(() => calls.find(({ method }) => method === "PUT")?.body)
      .toMatchObject({ hardStop: false, gracePercent: 10, tell: [] });
  });

  it.each([
    [
      "gracePercent",
      "a budget can be passed by 0 to 100 percent",
      { role: "spinbutton", name: "Grace, in percent" },
    ],
    [
      "tell",
      "somebody who is to be told is not here",
      { role: "group", name: "People who are told" },
    ],
  ])("what the server says about %s is told there", async (field, message, { role, name }) => {
    const refused = refuse(400, "invalid_field", message);
    Object.assign((refused.body as { error: object }).error, { field });
    world(() => refused);
    const { user } = show({ ...BUDGET, tell: ["u1"] });
    await screen.findByLabelText("ada");
    await user.click(send());
    const told = await screen.findByRole("alert");
    expect(told.textContent?.toLowerCase()).toContain(message);
    const place = screen.getByRole(role, { name });
    expect(place.getAttribute("aria-describedby")?.split(" ")).toContain(told.id);
  });

  it("lets at most 20 be chosen, and finds people by name", async () => {
    const many = Array.from({ length: 22 }, (_, at) => person(`p${at}`, `person-${at}`));
    world(undefined, many);
    const { user } = show({ ...BUDGET, tell: many.slice(0, 19).map(({ id }) => id) });
    const box = async (name: string) => (await screen.findByLabelText(name)) as HTMLInputElement;
    await user.click(await box("person-19"));
    screen.getByText("More than 20 people cannot be told.");
    expect((await box("person-20")).disabled).toBe(true);
    expect((await box("person-19")).disabled).toBe(false);
    await user.type(screen.getByLabelText("Find a person"), "Person-2");
    expect(screen.getAllByRole("checkbox")).toHaveLength(3);
  });

  it("says why who may not know people cannot choose them, and keeps who was chosen", async () => {
    sessionStorage.clear();
    const calls = world();
    const session = { ...SESSION, role: "lead", permissions: ["budget:*:all"] };
    renderPart(<BudgetDrawer budget={{ ...BUDGET, tell: ["u1"] }} onClose={vi.fn()} />, session);
    screen.getByText(/^1 person chosen\. Your role lead does not allow this/);
    await userEvent.setup().click(send());
    await expect
      .poll(() => calls.find(({ method }) => method === "PUT")?.body)
      .toMatchObject({ tell: ["u1"] });
  });
});
