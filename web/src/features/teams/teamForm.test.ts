import { describe, expect, it } from "vitest";
import type { Team } from "../../api/types";
import { bodyOf, specOf, teamCli, valuesOf, whyNotSend } from "./teamForm";

const SPEC = {
  name: "review",
  strategy: "tree",
  goal: "Look",
  items: ["a.rs", { file: "b.rs" }],
  roles: [{ name: "reviewer", role: "worker", model: "big" }],
  lead: { name: "lead", role: "worker" },
  merge: { name: "editor", role: "worker", sandbox: "gvisor" },
  size: 2,
  copies: 1,
  budgetMicros: 2_500_000,
  deadline: "2027-01-01T10:30:45Z",
  retry: { maxAttempts: 2, delayMs: 500 },
  pool: "default",
};
const TEAM = { id: "1", name: "review", state: "created", size: 2, spec: SPEC } as unknown as Team;

describe("the form of a team", () => {
  it("asks for a name, something to do, a role and a size", () => {
    const values = valuesOf(undefined);
    expect(whyNotSend(values)).toBe("Say a name first.");
    const named = { ...values, name: "x" };
    expect(whyNotSend(named)).toBe("Say what is to be done.");
    const whole = { ...named, goal: "look" };
    expect(whyNotSend(whole)).toBeUndefined();
    expect(whyNotSend({ ...whole, roles: " , " })).toBe("Name at least one role.");
    expect(whyNotSend({ ...whole, size: "0" })).toBe("Say how many work at once.");
    expect(whyNotSend({ ...whole, budget: "much" })).toMatch(/^Write the budget/);
    expect(whyNotSend({ ...values, mode: "json", json: "[]" })).toMatch(/JSON object/);
    expect(whyNotSend({ ...values, mode: "json", json: "{}" })).toBeUndefined();
  });

  it("says items line by line, and what is not asked for is left out", () => {
    const values = { ...valuesOf(undefined), name: " x ", items: 'a\n\n {"n": 1} \n{b', lead: "l" };
    expect(specOf(values)).toEqual({
      name: "x",
      strategy: "parallel",
      items: ["a", { n: 1 }, "{b"],
      roles: [{ name: "worker" }],
      size: 2,
      retry: { maxAttempts: 3 },
      pool: "default",
    });
  });

  it("lets agents do the work if a role of agents is chosen", () => {
    const values = { ...valuesOf(undefined), roles: "a, b", agentRole: "worker", project: "p" };
    expect(specOf(values)).toMatchObject({
      roles: [
        { name: "a", role: "worker" },
        { name: "b", role: "worker" },
      ],
      project: "p",
    });
  });

  it("changes nothing of a team that nobody changed, however rich it is", () => {
    expect(bodyOf(valuesOf(TEAM), TEAM)).toEqual({});
    expect(bodyOf({ ...valuesOf(TEAM), mode: "json" }, TEAM)).toEqual({});
  });

  it("sends what was changed, takes away what was emptied, and keeps what it has no field for", () => {
    const values = { ...valuesOf(TEAM), budget: "", attempts: "5", roles: "reviewer, other" };
    expect(bodyOf(values, TEAM)).toEqual({
      budgetMicros: null,
      retry: { maxAttempts: 5, delayMs: 500 },
      roles: [
        { name: "reviewer", role: "worker", model: "big" },
        { name: "other", role: "worker" },
      ],
    });
  });

  it("is the same on the command line, quoted for a shell", () => {
    const values = { ...valuesOf(TEAM), goal: "It's late" };
    expect(teamCli(values, TEAM)).toBe(
      `echo '{"goal":"It'\\''s late"}' | godel team update review -`,
    );
  });
});
