import { describe, expect, it } from "vitest";
import type { Team } from "../../api/types";
import { bodyOf, specOf, type TeamValues, teamCli, toldAs, valuesOf, whyNotSend } from "./teamForm";

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

  it("as JSON says what the fields say now, however often one goes there and back", () => {
    let values: TeamValues = { ...valuesOf(undefined), name: "x", goal: "look" };
    const go = (mode: "form" | "json") => {
      values = { ...values, ...toldAs(mode, values, undefined) };
      return values;
    };
    expect(JSON.parse(go("json").json)).toMatchObject({ name: "x", goal: "look", size: 2 });
    go("form");
    values = { ...values, goal: "write", size: "3" };
    expect(JSON.parse(go("json").json)).toMatchObject({ name: "x", goal: "write", size: 3 });
  });

  it("reads the JSON into its fields, and keeps what it has no field for", () => {
    const json = JSON.stringify({ ...SPEC, copies: 4, goal: "Other", merge: undefined });
    const asked = { ...valuesOf(undefined), mode: "json", json };
    const read = { ...asked, ...toldAs("form", asked, undefined) };
    expect(read).toMatchObject({
      mode: "form",
      goal: "Other",
      budget: "2.5",
      merge: "",
      size: "2",
    });
    expect(bodyOf({ ...read, name: "two" }, undefined)).toEqual({
      ...JSON.parse(json),
      name: "two",
    });
    expect(bodyOf({ ...read, budget: "" }, undefined)).not.toHaveProperty("budgetMicros");
  });

  it("does not leave a text that is no object, for it would be lost; nothing at all is no loss", () => {
    const asked = { ...valuesOf(undefined), mode: "json", goal: "look" };
    expect(toldAs("form", { ...asked, json: "{" }, undefined)).toBeUndefined();
    expect(toldAs("form", { ...asked, json: " " }, undefined)).toEqual({ mode: "form" });
  });

  it("changes nothing of a team by going there and back, also of one that was scaled", () => {
    const scaled = { ...TEAM, size: 5 };
    const there = { ...valuesOf(scaled), ...toldAs("json", valuesOf(scaled), scaled) };
    expect(bodyOf(there, scaled)).toEqual({});
    const back = { ...there, ...toldAs("form", there, scaled) };
    expect(back).toEqual(valuesOf(scaled));
    expect(bodyOf(back, scaled)).toEqual({});
    const goal = { ...valuesOf(TEAM), goal: "New" };
    expect(bodyOf({ ...goal, ...toldAs("json", goal, TEAM) }, TEAM)).toEqual({ goal: "New" });
  });

  it("is the same on the command line, quoted for a shell", () => {
    const values = { ...valuesOf(TEAM), goal: "It's late" };
    expect(teamCli(values, TEAM)).toBe(
      `echo '{"goal":"It'\\''s late"}' | godel team update review -`,
    );
  });
});
