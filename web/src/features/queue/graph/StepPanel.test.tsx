import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { DEVELOPER, fakeServer, ok, refuse, SESSION } from "../../../../tests/fakeServer";
import type { Run, RunRow, RunStep, RunStepDetail, Session, TaskDetail } from "../../../api/types";
import { ConfirmHost } from "../../../change/confirm";
import { SessionProvider } from "../../../roles/session";
import { queueQueries } from "../queries";
import { StepPanel } from "./StepPanel";

const STEP = { id: "build", kind: "task", dependsOn: [], state: "failed", round: 1 } as RunStep;
const RUN = { id: "run-12345678", state: "failed", name: "release", createdBy: "u1" } as Run;
const tries = (number: number, error: string) => ({
  ...{ number, workerId: "w1", startedAt: "2026-11-16T10:00:00Z", ending: "failed" },
  endedAt: "2026-11-16T10:00:01Z",
  error,
});
const task = (id: string, errors: string[]) =>
  ({
    ...{ id, state: "dead", payload: { command: id }, error: errors.at(-1) },
    attempts: errors.map((error, at) => tries(at + 1, error)),
  }) as unknown as TaskDetail;

interface Shown {
  cut?: boolean;
  step?: RunStep;
  session?: Session;
}

function show(
  rounds: RunStepDetail["rounds"],
  { cut = false, step = STEP, session = SESSION }: Shown = {},
) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  const { queryKey } = queueQueries.step(RUN.id, step.id);
  client.setQueryData<RunStepDetail>(queryKey, { ...step, rounds, cut });
  const steps = [step, { ...STEP, id: "test", dependsOn: [step.id] }];
  return render(
    <QueryClientProvider client={client}>
      <SessionProvider value={session}>
        <StepPanel
          run={RUN}
          step={step}
          steps={steps}
          isDecisive={false}
          now={0}
          onClose={() => undefined}
        />
        <ConfirmHost />
      </SessionProvider>
    </QueryClientProvider>,
  );
}

describe("X2 the panel of a step", () => {
  it("tells each time that it was begun, the last one open", () => {
    show([
      { round: 1, task: task("t2", ["still bad"]) },
      { round: 0, task: task("t1", ["bad", "worse"]) },
    ]);
    screen.getByText("still bad");
    expect(screen.queryByText("worse")).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "Begun before, time 1: dead" }));
    const earlier = screen.getAllByRole("region", { name: "Attempts" })[1] as HTMLElement;
    expect(within(earlier).getAllByRole("listitem")).toHaveLength(2);
    within(earlier).getByText("worse");
  });

  it("leads to the run that it started, and says that there was more", () => {
    const child = { id: "run-2", name: "inner", state: "running" } as RunRow;
    show([{ round: 1, run: child }], { cut: true });
    const link = screen.getByRole("link", { name: "inner" });
    expect(link.getAttribute("href")).toMatch(/\/queue\/runs\/run-2$/);
    screen.getByTitle("It was begun earlier, too");
  });

  /** What was asked to be done anew. */
  function retries() {
    const calls = fakeServer({
      [`POST /api/v1/runs/${RUN.id}/retry`]: () => ok(RUN),
      [`GET /api/v1/runs/${RUN.id}/steps/${STEP.id}`]: () =>
        ok({ ...STEP, rounds: [], cut: false }),
    });
    return () => calls.filter(({ method }) => method === "POST").map(({ body }) => body);
  }
  const rerun = () => fireEvent.click(screen.getByRole("button", { name: "Rerun from here" }));

  it("does a step that failed anew at once", async () => {
    const sent = retries();
    show([]);
    rerun();
    await expect.poll(sent).toEqual([{ steps: ["build"] }]);
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  it("asks before it does a step anew that succeeded, and says how many come after it", async () => {
    const sent = retries();
    show([], { step: { ...STEP, state: "succeeded" } });
    rerun();
    const question = await screen.findByRole("dialog", { name: "Rerun from build?" });
    within(question).getByText(/ 1 step after it is done anew as well\.$/);
    fireEvent.click(within(question).getByRole("button", { name: "Cancel" }));
    expect(sent()).toEqual([]);
    rerun();
    const again = await screen.findByRole("dialog", { name: "Rerun from build?" });
    fireEvent.click(within(again).getByRole("button", { name: "Rerun from here" }));
    await expect.poll(sent).toEqual([{ steps: ["build"] }]);
  });

  it("G14 does nothing anew in a run of somebody else, and says why", () => {
    const sent = retries();
    show([], { session: DEVELOPER });
    screen.getByText(/^This run of release is not yours: .*workflow:execute:team\.$/);
    rerun();
    expect(sent()).toEqual([]);
  });

  it("G14 lets only those answer whom an approval asks", () => {
    const step = { ...STEP, kind: "approval", state: "waiting", by: ["role:admin"] };
    show([], { step, session: DEVELOPER });
    for (const name of ["Approve", "Reject"]) {
      const button = screen.getByRole("button", { name });
      expect(button.getAttribute("aria-disabled"), name).toBe("true");
    }
    expect(
      screen.getAllByText(/^This is not yours to answer: it asks the role admin/),
    ).toHaveLength(2);
  });

  it("G2 the note of an answer is kept until the server has taken it", async () => {
    sessionStorage.clear();
    let isDown = true;
    const calls = fakeServer({
      [`POST /api/v1/runs/${RUN.id}/answer`]: () =>
        isDown ? refuse(503, "unavailable", "the disk is full") : ok(RUN),
      [`GET /api/v1/runs/${RUN.id}/steps/${STEP.id}`]: () =>
        ok({ ...STEP, rounds: [], cut: false }),
    });
    const sent = () => calls.filter(({ method }) => method === "POST").map(({ body }) => body);
    const step = { ...STEP, kind: "approval", state: "waiting" };
    const note = () => screen.getByLabelText<HTMLInputElement>("Note, if you like");
    const approve = () => fireEvent.click(screen.getByRole("button", { name: "Approve" }));
    const first = show([], { step });
    fireEvent.change(note(), { target: { value: "after a look" } });
    first.unmount();
    show([], { step });
    expect(note().value).toBe("after a look");
    approve();
    expect(note().value, "on its way").toBe("");
    await expect.poll(() => note().value).toBe("after a look");
    isDown = false;
    approve();
    const answer = { step: "build", approve: true, note: "after a look" };
    await expect.poll(sent).toEqual([answer, answer]);
    expect(sessionStorage).toHaveLength(0);
  });

  it("does nothing anew that is not over", () => {
    const sent = retries();
    show([], { step: { ...STEP, state: "running" } });
    screen.getByText("build is running; only what is over can be done anew.");
    rerun();
    expect(sent()).toEqual([]);
  });
});
