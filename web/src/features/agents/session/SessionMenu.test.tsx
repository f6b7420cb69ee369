import { fireEvent, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fakeAgent } from "../../../../tests/fakeAgent";
import { DEVELOPER, fakeServer } from "../../../../tests/fakeServer";
import { renderPart } from "../../../../tests/renderPart";
import type { Agent, AgentSnapshot, Talk } from "../../../api/types";
import { SnapshotLine } from "../snapshots/SnapshotLine";
import { SessionMenu } from "./SessionMenu";

const TALK = { status: "paused", branch: "main" } as Talk;
const SNAPSHOT: AgentSnapshot = {
  id: "k1",
  snapshot: "c0ffee",
  agentId: "a1",
  agent: "worker-1",
  userId: DEVELOPER.userId,
  bead: "app-4k2hm",
  takenAt: "2026-11-16T10:00:00Z",
};
const paused = (userId: string) => fakeAgent({ lifecycleState: "paused", view: "paused", userId });

/** The lines of a menu that can be pressed, and those that cannot. */
function lines(label: string) {
  fireEvent.click(screen.getByRole("button", { name: label }));
  const isCopy = (line: HTMLElement) => line.getAttribute("aria-label")?.startsWith("Copy ");
  const all = screen.getAllByRole("menuitem").filter((line) => !isCopy(line));
  return {
    on: all.filter((line) => line.getAttribute("aria-disabled") !== "true").length,
    off: all.filter((line) => line.getAttribute("aria-disabled") === "true").length,
  };
}

describe("G14 the conversation of an agent", () => {
  const show = (agent: Agent) => {
    renderPart(<SessionMenu agent={agent} talk={TALK} />, DEVELOPER);
    return lines("Do something with the session");
  };

  it("is changed by who leads the agent", () => {
    expect(show(paused(DEVELOPER.userId))).toEqual({ on: 4, off: 0 });
  });

  it("says to everybody else why not", () => {
    expect(show(paused("u1"))).toEqual({ on: 0, off: 4 });
    expect(screen.getAllByText(/worker-1 is not yours: .*agent:execute:team\./)).toHaveLength(4);
  });
});

it("G2 the name of a save point is there for who went back in the middle of it", () => {
  sessionStorage.clear();
  const open = () => {
    const shown = renderPart(
      <SessionMenu agent={paused(DEVELOPER.userId)} talk={TALK} />,
      DEVELOPER,
    );
    fireEvent.click(screen.getByRole("button", { name: "Do something with the session" }));
    fireEvent.click(screen.getByRole("menuitem", { name: /^Save where it stands/ }));
    return shown;
  };
  const name = () => screen.getByLabelText<HTMLInputElement>("Name of the save point");
  const first = open();
  fireEvent.change(name(), { target: { value: "before" } });
  first.unmount();
  open();
  expect(name().value).toBe("before");
  fakeServer({});
  fireEvent.submit(name());
  expect(sessionStorage).toHaveLength(0);
});

describe("G14 a snapshot", () => {
  const show = (snapshot: AgentSnapshot) => {
    renderPart(<SnapshotLine snapshot={snapshot} />, DEVELOPER);
    return lines("Do something with the snapshot of worker-1");
  };

  it("is exported and forgotten by whose it is", () => {
    expect(show(SNAPSHOT)).toEqual({ on: 2, off: 0 });
  });

  it.each([
    ["of somebody else", "u1"],
    ["that does not say whose it is", null],
  ])("%s can be gone on from, and nothing else", (_, userId) => {
    const calls = fakeServer({});
    expect(show({ ...SNAPSHOT, userId })).toEqual({ on: 0, off: 2 });
    expect(screen.getAllByText(/The snapshot of worker-1 is not yours: /)).toHaveLength(2);
    const restore = screen.getByRole("button", { name: "Restore" });
    expect(restore.getAttribute("aria-disabled")).toBeNull();
    expect(calls).toEqual([]);
  });
});
