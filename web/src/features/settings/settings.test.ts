import { describe, expect, it } from "vitest";
import type { ActionSpec } from "../../actions/actions";
import { ApiError } from "../../api/client";
import { placeError } from "../../ui/form/form";
import { addChord, groupsOf } from "./keyboard";
import { changesOf, limitsOf, type ProjectFields } from "./projectForm";

const EMPTY: ProjectFields = {
  name: "web",
  description: "",
  repository: "",
  budget: "",
  agents: "",
  rate: "",
  models: "",
};

describe("the form of a project", () => {
  it("lists what will be different, and nothing else", () => {
    expect(changesOf(EMPTY, { ...EMPTY, name: "web ", budget: "5" })).toEqual([
      { name: "Budget", before: "", after: "5" },
    ]);
  });

  it("sends all limits, also those that it does not show", () => {
    const before = { cpuMillis: 500, monthlyBudgetMicros: 1, models: ["a"] };
    expect(limitsOf(before, { ...EMPTY, budget: "2.5", models: "claude-*, gpt-*" })).toEqual({
      cpuMillis: 500,
      memoryBytes: null,
      monthlyBudgetMicros: 2_500_000,
      maxAgents: null,
      requestsPerMinute: null,
      models: ["claude-*", "gpt-*"],
    });
  });
});

describe("what the server says about a form", () => {
  const words = { name: /name|called/, role: /role/ };

  it("is told at the field that it is about, with the advice", () => {
    const error = new ApiError(409, {
      code: "user_name_taken",
      message: 'another user is called "ann"',
      hint: "choose another name",
    });
    expect(placeError(error, words)).toEqual({
      fields: { name: 'Another user is called "ann". Choose another name.' },
      rest: undefined,
    });
  });

  it("stands at the field that the server names, whatever its words are", () => {
    const all = { name: /name/i, agents: /agents/i, budget: /budget/i };
    const at = (field: string) => {
      const body = { code: "invalid_field", message: "a limit must be larger than 0", field };
      return Object.keys(placeError(new ApiError(400, body), all).fields);
    };
    expect(at("limits.maxAgents")).toEqual(["agents"]);
    expect(at("limits.monthlyBudgetMicros")).toEqual(["budget"]);
    expect(at("name")).toEqual(["name"]);
    expect(at("limits.cpuMillis")).toEqual([]);
  });

  it("is told for the whole form if it is about no field", () => {
    const error = new ApiError(500, { code: "internal", message: "the name server is gone" });
    expect(placeError(error, words)).toEqual({ fields: {}, rest: error });
    expect(placeError(null, words)).toEqual({ fields: {}, rest: undefined });
  });
});

describe("keys", () => {
  const spec = (id: string, scope: string): ActionSpec => ({ id, scope, title: id });

  it("are grouped by where they work", () => {
    const groups = groupsOf([spec("agents.kill", "agents"), spec("go.home", "global")]);
    expect(groups.map(([name]) => name)).toEqual(["Go to", "Agents"]);
  });

  it("two presses are a sequence", () => {
    expect(addChord(undefined, "g")).toBe("g");
    expect(addChord("g", "x")).toBe("g x");
  });
});
