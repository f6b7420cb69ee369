import { describe, expect, it } from "vitest";
import { isAsking, kindOf, noOf, placeOf, rightFor, whose, yesOf } from "./kinds";

describe("answers by one key", () => {
  it("are taken from choices that say yes or no", () => {
    expect(yesOf({ choices: ["Yes, delete it", "No"] })).toBe("Yes, delete it");
    expect(noOf({ choices: ["Allow", "Deny"] })).toBe("Deny");
    expect(yesOf({ choices: ["Allow", "Deny"] })).toBe("Allow");
  });

  it("are never guessed", () => {
    expect(yesOf({ choices: ["red", "yesterday's blue"] })).toBeUndefined();
    expect(noOf({ choices: ["north", "south"] })).toBeUndefined();
    expect(yesOf({ choices: [] })).toBeUndefined();
  });

  it("are offered for kinds that this page does not know yet", () => {
    expect(kindOf({ kind: "something-new" }).title).toBe("Question");
  });
});

describe("what is no agent's", () => {
  it("an approval is answered by one key and leads to its run", () => {
    const gate = { kind: "approval", runId: "r-1", workflow: "ship", step: "agree" };
    const choices = ["Approve", "Reject"];
    expect([yesOf({ choices }), noOf({ choices })]).toEqual(choices);
    expect(whose(gate)).toBe("ship, agree");
    expect(placeOf(gate)).toBe("/queue/runs/r-1");
    expect(isAsking(gate)).toBe(false);
  });

  it("is put aside by who may do so for the team; an approval is decided by who may run", () => {
    expect(rightFor({ kind: "budget" })).toBe("agent:execute:team");
    expect(rightFor({ kind: "dead_letters", agentId: null })).toBe("agent:execute:team");
    expect(rightFor({ kind: "budget", agentId: "a-1" })).toBe("agent:execute:own");
    expect(rightFor({ kind: "question", agentId: "a-1" })).toBe("agent:execute:own");
    expect(rightFor({ kind: "approval" })).toBe("workflow:execute:own");
  });

  it("a budget and dead letters lead to what can be done about them", () => {
    expect(placeOf({ budgetId: "b-1" })).toBe("/costs?tab=budgets&budget=b-1");
    expect(placeOf({ pool: "ci" })).toBe("/queue?tab=dead&pool=ci");
    expect(isAsking({ kind: "budget" })).toBe(false);
    expect(isAsking({ kind: "budget", agent: "ann-1" })).toBe(true);
  });
});
