import { describe, expect, it } from "vitest";
import type { Team } from "../../api/types";
import { TEAM_ACTS } from "./actions";
import { byAttention, countsOf, whyNot } from "./states";

const team = (name: string, state: string, more: Partial<Team> = {}) =>
  ({ name, state, createdAt: "2026-01-01T00:00:00Z", ...more }) as Team;

describe("a team", () => {
  it.each([
    ["created", "start cancel update delete"],
    ["running", "pause complete cancel update"],
    ["paused", "resume complete cancel update"],
    ["completed", "delete"],
    ["failed", "delete"],
    ["cancelled", "delete"],
  ])("that is %s can be told to %s", (state, able) => {
    const can = TEAM_ACTS.filter((act) => whyNot(act, { state }) === undefined);
    expect(can.join(" ")).toBe(able);
  });

  it("says why not", () => {
    expect(whyNot("delete", { state: "running" })).toBe("It is running; cancel it first.");
    expect(whyNot("pause", { state: "created" })).toBe("It is created.");
  });

  it("that needs a person comes first, then those at work", () => {
    const sorted = byAttention([
      team("done", "completed", { alert: "nobody is able" }),
      team("new", "created"),
      team("busy", "running"),
      team("stuck", "paused", { alert: "the budget is spent" }),
    ]);
    expect(sorted.map(({ name }) => name)).toEqual(["stuck", "busy", "new", "done"]);
  });

  it("counts what there is, done first", () => {
    const none = { pending: 0, ready: 0, running: 0, waiting: 0, skipped: 0, cancelled: 0 };
    const counts = { ...none, succeeded: 3, failed: 1, cancelled: 2 };
    expect(countsOf({ counts })).toEqual([
      ["succeeded", 3],
      ["failed", 1],
      ["cancelled", 2],
    ]);
  });
});
