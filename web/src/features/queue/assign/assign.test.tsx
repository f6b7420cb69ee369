import { fireEvent, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fakeServer, ok, refuse, SESSION } from "../../../../tests/fakeServer";
import { renderPart } from "../../../../tests/renderPart";
import type { Task, Worker } from "../../../api/types";
import { Toaster } from "../../../change/Toaster";
import { AssignMenu } from "./AssignMenu";

const task = (title: string, state = "ready"): Task =>
  ({ id: `0000-${title}`, title, state, pool: "ci" }) as Task;
const worker = (name: string, more: Partial<Worker> = {}) =>
  ({ id: `w-${name}`, name, pool: "ci", status: "idle", ...more }) as Worker;

const WORKERS = [
  worker("smith"),
  worker("ann", { pool: "agents" }),
  worker("ghost", { status: "offline" }),
];

const show = (tasks: Task[], workers = WORKERS, session = SESSION) => {
  const calls = fakeServer({
    "GET /api/v1/workers?limit=100": () => ok({ items: workers, pagination: { hasMore: false } }),
    "POST /api/v1/tasks/0000-build/assign": () => ok(task("build")),
    "POST /api/v1/tasks/0000-test/assign": () => refuse(409, "task_state", "it runs already"),
  });
  renderPart(
    <>
      <AssignMenu tasks={tasks} />
      <Toaster />
    </>,
    session,
  );
  return calls;
};
const open = () => fireEvent.click(screen.getByRole("button", { name: "Assign to a worker" }));
const line = (name: RegExp) => screen.findByRole("menuitem", { name });

describe("a task for one worker alone", () => {
  it("G12 is given to one of those that are here, and a foreign pool is told", async () => {
    const calls = show([task("build"), task("over", "succeeded")]);
    open();
    await expect.poll(() => screen.queryByRole("menuitem", { name: /^smith/ })).not.toBeNull();
    expect(screen.queryByRole("menuitem", { name: /^ghost/ })).toBeNull();
    screen.getByText("godel task assign 00-build ann");
    const lines = screen.getAllByRole("menuitem").map(({ textContent }) => textContent ?? "");
    const names = lines.map((text) => /^(smith|ann)/.exec(text)?.[1]).filter(Boolean);
    expect(names, "those of the same pool first").toEqual(["smith", "ann"]);
    fireEvent.click(await line(/^ann/));
    await screen.findByText("build waits for ann alone, which is of the pool agents and not of ci");
    const sent = calls.filter(({ method }) => method === "POST");
    expect(sent.map(({ path, body }) => [path, body])).toEqual([
      ["/api/v1/tasks/0000-build/assign", { workerId: "w-ann" }],
    ]);
  });

  it("what the server refuses is told", async () => {
    show([task("test")]);
    open();
    fireEvent.click(await line(/^smith/));
    await screen.findByText("Not done: Give test to smith");
  });

  it("says before the click that it does not wait, or that nobody is here", async () => {
    const calls = show([task("build", "running")]);
    open();
    const smith = await line(/^smith/);
    expect(smith.getAttribute("aria-disabled")).toBe("true");
    fireEvent.click(smith);
    expect(calls.filter(({ method }) => method === "POST")).toEqual([]);
  });

  it("G14 says before the click that the role may not", async () => {
    const permissions = ["task:read:team", "task:update:own"];
    show([task("build")], WORKERS, { ...SESSION, role: "developer", permissions });
    open();
    expect((await line(/^smith/)).getAttribute("aria-disabled")).toBe("true");
  });

  it("nobody is here", async () => {
    show([task("build")], []);
    open();
    await screen.findByText(/No worker is here\./);
  });
});
