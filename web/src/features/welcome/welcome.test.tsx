import { QueryClientProvider, useQuery } from "@tanstack/react-query";
import { fireEvent, render, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { fakeServer, ok, refuse, SESSION } from "../../../tests/fakeServer";
import type { Project } from "../../api/types";
import { newQueryClient } from "../../queryClient";
import { SessionProvider } from "../../roles/session";
import { AgentPrograms } from "./AgentPrograms";
import { BudgetStep } from "./BudgetStep";
import { doctorQuery } from "./doctor";
import { RuntimeStep } from "./RuntimeStep";
import { Sample } from "./Sample";

const RUNTIMES = {
  items: [
    { name: "worktree", about: "a git worktree", offered: true, isolation: "process" },
    { name: "gvisor", about: "a kernel of its own", offered: true, isolation: "userspace_kernel" },
  ],
};
const PROGRAMS = { name: "harnesses", status: "ok", message: "claude 2.1.197" };
const works = (name: string) => () => ok({ name, ok: true, checks: [PROGRAMS] });
const broken = () =>
  ok({
    name: "gvisor",
    ok: false,
    checks: [{ name: "gvisor", status: "fail", message: "runsc is missing", hint: "install it" }],
  });

const show = (node: ReactNode) =>
  render(
    <QueryClientProvider client={newQueryClient()}>
      <SessionProvider value={SESSION}>{node}</SessionProvider>
    </QueryClientProvider>,
  );

function Doctor({ onDone }: { onDone: () => void }) {
  const doctor = useQuery(doctorQuery);
  return (
    <>
      <RuntimeStep doctor={doctor} denied={undefined} onDone={onDone} />
      <AgentPrograms doctor={doctor} hasKey={false} />
    </>
  );
}

describe("X5 what is on this machine", () => {
  beforeEach(() => localStorage.clear());

  it("says why a runtime does not work and what to do, and checks again when asked", async () => {
    let gvisor = broken;
    fakeServer({
      "GET /api/v1/runtimes": () => ok(RUNTIMES),
      "POST /api/v1/runtimes/worktree/test": works("worktree"),
      "POST /api/v1/runtimes/gvisor/test": () => gvisor(),
    });
    const onDone = vi.fn();
    show(<Doctor onDone={onDone} />);
    await screen.findByText(/Runsc is missing\. Install it\./);
    screen.getByText(/and agents use it unless you say otherwise/);
    gvisor = works("gvisor");
    fireEvent.click(screen.getByRole("button", { name: "Check again" }));
    fireEvent.click(await screen.findByRole("button", { name: "Choose gvisor when I spawn" }));
    screen.getByText(/is filled in when you spawn an agent/);
    expect(localStorage.getItem("godel.spawn")).toBe('{"runtime":"gvisor"}');
    fireEvent.click(screen.getByRole("button", { name: "Go on" }));
    expect(onDone).toHaveBeenCalledOnce();
  });

  it("can be left out where nothing works", async () => {
    fakeServer({
      "GET /api/v1/runtimes": () => ok({ items: RUNTIMES.items.slice(1) }),
      "POST /api/v1/runtimes/gvisor/test": broken,
    });
    const onDone = vi.fn();
    show(<Doctor onDone={onDone} />);
    await screen.findByText(/No agent can begin here yet/);
    fireEvent.click(screen.getByRole("button", { name: "Skip this step" }));
    expect(onDone).toHaveBeenCalledOnce();
  });

  it("shows the agent programs, and that a login of theirs is no key", async () => {
    fakeServer({
      "GET /api/v1/runtimes": () => ok({ items: RUNTIMES.items.slice(0, 1) }),
      "POST /api/v1/runtimes/worktree/test": works("worktree"),
    });
    show(<Doctor onDone={() => undefined} />);
    await screen.findByText("claude");
    screen.getByText("Version 2.1.197.");
    screen.getByText("native");
    screen.getByText(/A login of such a program is not passed on/);
  });
});

describe("C2 the budget of the setup", () => {
  const sent = () => {
    const calls = fakeServer({
      "PUT /api/v1/budgets": () => ok({}),
      "GET /api/v1/budgets": () => ok({ items: [] }),
    });
    return () => calls.filter(({ method }) => method === "PUT").map(({ body }) => body);
  };
  beforeEach(() => sessionStorage.clear());

  it("is five dollars a day for who only goes on", async () => {
    const bodies = sent();
    show(<BudgetStep limit={undefined} onDone={() => undefined} />);
    fireEvent.submit(screen.getByLabelText("Hard stop, in dollars"));
    await expect
      .poll(bodies)
      .toEqual([{ scope: "tenant", period: "daily", capMicros: 5_000_000, warnPercent: 80 }]);
  });

  it("is whatever else is said", async () => {
    const bodies = sent();
    show(<BudgetStep limit={undefined} onDone={() => undefined} />);
    const amount = screen.getByLabelText("Hard stop, in dollars");
    fireEvent.change(amount, { target: { value: "50" } });
    fireEvent.change(screen.getByLabelText("Begins anew"), { target: { value: "monthly" } });
    screen.getByText("godel budget set tenant 50/month");
    fireEvent.submit(amount);
    await expect
      .poll(bodies)
      .toEqual([{ scope: "tenant", period: "monthly", capMicros: 50_000_000, warnPercent: 80 }]);
  });

  it("can be left out", () => {
    const onDone = vi.fn();
    show(<BudgetStep limit={undefined} onDone={onDone} />);
    fireEvent.click(screen.getByRole("button", { name: "Skip this step" }));
    expect(onDone).toHaveBeenCalledOnce();
  });
});

describe("X5 the sample", () => {
  const project = { id: "p1", name: "app" } as Project;

  it("is planned by rules in the project, and started by nobody", async () => {
    const calls = fakeServer({ "POST /api/v1/intents": () => ok({ id: "i1", state: "planned" }) });
    show(<Sample project={project} />);
    fireEvent.click(screen.getByRole("button", { name: "Try it with a sample" }));
    await vi.waitFor(() => expect(location.search).toContain("intent=i1"));
    expect(calls.map(({ path }) => path)).toEqual(["/api/v1/intents"]);
    expect(calls[0]?.body).toMatchObject({ projectId: "p1", rules: true });
  });

  it("says why it cannot be", async () => {
    fakeServer({ "POST /api/v1/intents": () => refuse(409, "stopped", "everything stands still") });
    show(<Sample project={project} />);
    fireEvent.click(screen.getByRole("button", { name: "Try it with a sample" }));
    await screen.findByText("Everything stands still.");
  });
});
