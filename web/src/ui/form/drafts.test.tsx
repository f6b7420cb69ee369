import { fireEvent, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { beforeEach, describe, expect, it } from "vitest";
import { fakeServer, ok } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import { TryDrawer } from "../../features/beads/attempts/TryDrawer";
import { bead } from "../../features/beads/fakeBead";
import { NewSchedule } from "../../features/queue/create/NewSchedule";
import { NewTask } from "../../features/queue/create/NewTask";
import { PoolDrawer } from "../../features/queue/create/PoolDrawer";
import { TeamDrawer } from "../../features/teams/TeamDrawer";

const close = () => undefined;
const POOL = { name: "ci", paused: false, placement: "least-loaded", deadAlert: 0, alerted: false };
const RISES = "A task rises by one priority after, in seconds";

/** Forms beside a page, each with a field to write in. */
const FORMS: readonly (readonly [name: string, form: ReactNode, label: string])[] = [
  ["a task", <NewTask key="task" onClose={close} />, "What is to be done, in a line"],
  ["a schedule", <NewSchedule key="schedule" onClose={close} />, "Name"],
  ["a team", <TeamDrawer key="team" onClose={close} />, "Goal"],
  ["a pool", <PoolDrawer key="pool" pool={POOL} onClose={close} />, RISES],
  ["attempts", <TryDrawer key="try" bead={bead("b-1")} onClose={close} />, "How many ways"],
];

const field = (label: string) => screen.getByLabelText<HTMLInputElement>(label);

beforeEach(() => {
  sessionStorage.clear();
  const none = () => ok({ items: [], pagination: { hasMore: false } });
  fakeServer({ "GET /api/v1/roles": none, "GET /api/v1/queue/pools": none });
});

describe.each(FORMS)("G2 what was written in the form for %s", (_, form, label) => {
  it("is there when somebody comes back, until it is discarded", () => {
    const first = renderPart(form);
    fireEvent.change(field(label), { target: { value: "4" } });
    first.unmount();
    const second = renderPart(form);
    expect(field(label).value).toBe("4");
    fireEvent.click(screen.getByRole("button", { name: "Cancel", hidden: true }));
    fireEvent.click(screen.getByRole("button", { name: "Discard", hidden: true }));
    second.unmount();
    renderPart(form);
    expect(field(label).value).toBe("");
  });
});
