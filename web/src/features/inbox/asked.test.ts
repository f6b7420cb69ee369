import { describe, expect, it } from "vitest";
import { asked } from "./asked";

const event = (type: string, payload: Record<string, unknown>) => ({
  type,
  payload,
  metadata: {},
});

describe("what a person is needed for", () => {
  it("is a gate, a pool with dead letters, or a budget of many", () => {
    const gate = asked(
      event("workflow:approval:asked", { run: "r", step: "agree", message: "Go?" }),
    );
    expect(gate).toMatchObject({ notice: "approval/r/agree", text: "Go?", agent: undefined });
    const pool = asked(event("pool:alert", { pool: "ci" }));
    expect(pool).toMatchObject({ notice: "dead_letters/ci", text: "pool ci" });
    const budget = asked(event("budget:exceeded", { budget: "b", scope: "tenant" }));
    expect(budget).toMatchObject({ notice: "budget/b", text: "tenant" });
  });

  it("is told once: an agent that its budget stops says so itself", () => {
    const own = event("budget:exceeded", { budget: "b", scope: "agent:worker-1" });
    expect(asked(own)).toBeUndefined();
  });
});
