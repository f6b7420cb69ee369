import { describe, expect, it } from "vitest";
import type { Budget } from "../../api/types";
import { usedUpFor } from "./usedUp";

const NOW = Date.parse("2026-11-16T10:00:00Z");
const WORK = { userId: "u1", projectId: "p1", bead: "app-1" };
const budget = (scope: string, special: Partial<Budget> = {}): Budget => ({
  id: scope,
  scope,
  period: "daily",
  capMicros: 100,
  warnPercent: 80,
  spentMicros: 100,
  heldMicros: 0,
  startsAt: "2026-11-16T00:00:00Z",
  createdAt: "2026-11-01T00:00:00Z",
  ...special,
});
const found = (budgets: readonly Budget[], work: Parameters<typeof usedUpFor>[0] = WORK) =>
  usedUpFor(work, budgets, NOW).map(({ id }) => id);

describe("budgets that would refuse new work", () => {
  it("are those of the convoy that is begun, and of no other", () => {
    const budgets = ["convoy:c1", "convoy:c2"].map((scope) => budget(scope));
    expect(found(budgets, { userId: "u1", projectId: "p1", convoy: "c1" })).toEqual(["convoy:c1"]);
  });

  it("are those of all, of who asks, of the project and of the bead, the widest first", () => {
    const own = ["bead:app-1", "user:u1", "project:p1", "tenant"];
    const others = ["bead:app-2", "user:u2", "project:p2", "agent:a1", "convoy:c1", "token:t1"];
    expect(found([...own, ...others].map((scope) => budget(scope)))).toEqual([
      "tenant",
      "project:p1",
      "user:u1",
      "bead:app-1",
    ]);
  });

  it("are none of what is not known yet", () => {
    const budgets = [budget("project:undefined"), budget("bead:undefined"), budget("project:p1")];
    expect(found(budgets, { userId: "u1", projectId: undefined, bead: undefined })).toEqual([]);
  });

  it.each([
    ["something is left", { spentMicros: 99 }, false],
    ["nothing is left", { spentMicros: 100 }, true],
    ["it only tells", { hardStop: false }, false],
    ["it is in its grace", { gracePercent: 10, spentMicros: 109 }, false],
    ["its grace is over", { gracePercent: 10, spentMicros: 110 }, true],
    ["its period goes on", { endsAt: "2026-11-17T00:00:00Z" }, true],
    ["its period was over since it was read", { endsAt: "2026-11-16T00:00:00Z" }, false],
  ])("when %s: %o is %s", (_, special, refuses) => {
    expect(found([budget("tenant", special)])).toEqual(refuses ? ["tenant"] : []);
  });
});
