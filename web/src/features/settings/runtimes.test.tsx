import { QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fakeServer, ok, SESSION } from "../../../tests/fakeServer";
import { newQueryClient } from "../../queryClient";
import { SessionProvider } from "../../roles/session";
import { daysOf } from "./auditDays";
import { RuntimesSection } from "./RuntimesSection";

const RUNTIMES = {
  items: [
    {
      name: "worktree",
      about: "a git worktree behind walls of bubblewrap",
      offered: true,
      isolation: "process",
      snapshot: "workspace",
      pause: "freeze",
      network: "domain",
    },
    { name: "gvisor", about: "a kernel of its own", offered: false },
  ],
};

const show = (session = SESSION) =>
  render(
    <QueryClientProvider client={newQueryClient()}>
      <SessionProvider value={session}>
        <RuntimesSection />
      </SessionProvider>
    </QueryClientProvider>,
  );

describe("the runtimes", () => {
  it("S1 each tells what it is, and a test tells what is wrong and what to do", async () => {
    const calls = fakeServer({
      "GET /api/v1/runtimes": () => ok(RUNTIMES),
      "POST /api/v1/runtimes/gvisor/test": () =>
        ok({
          name: "gvisor",
          ok: false,
          checks: [
            { name: "git", status: "ok", message: "git version 2.39.5" },
            { name: "gvisor", status: "fail", message: "runsc is missing", hint: "install it" },
            { name: "harnesses", status: "skip", message: "none is on the PATH" },
          ],
        }),
    });
    show();
    await screen.findByText("Walls around processes, snapshots of files, a limited network.");
    screen.getByText("not offered here");
    const [, test] = screen.getAllByRole("button", { name: "Test" });
    if (!test) throw new Error("there is no button");
    fireEvent.click(test);
    await screen.findByText("Runsc is missing. Install it.");
    screen.getByText("Does not work");
    screen.getByText("Works");
    screen.getByText("Not needed");
    expect(calls.filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  it("S1 who may not test sees why", async () => {
    fakeServer({ "GET /api/v1/runtimes": () => ok(RUNTIMES) });
    show({ ...SESSION, role: "viewer", permissions: ["agent:read:team"] });
    const [test] = await screen.findAllByRole("button", { name: "Test" });
    expect(test?.getAttribute("aria-disabled") ?? test?.hasAttribute("disabled")).toBeTruthy();
  });
});

describe("days of the record", () => {
  it("S2 begin and end at midnight of the reader, and what is no day does not narrow", () => {
    const { since, until } = daysOf("2026-11-15", "2026-11-16");
    expect(new Date(since ?? "").getTime()).toBe(new Date(2026, 10, 15).getTime());
    expect(new Date(until ?? "").getTime()).toBe(new Date(2026, 10, 17).getTime() - 1);
    expect(daysOf("", "")).toEqual({});
    expect(daysOf("yesterday", "2026-11-16")).toEqual({ until });
  });
});
