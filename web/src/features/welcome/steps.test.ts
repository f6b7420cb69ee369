import { describe, expect, it } from "vitest";
import type { Budget, Project, ProviderTest, ReviewRow } from "../../api/types";
import type { Diagnosis } from "./doctor";
import { doneSteps, factsOf, nameOf, stepAfter, stepAt } from "./steps";

const project = (repository?: string) => ({ id: "p", name: "app", repository }) as Project;
const diagnosis = (ok: boolean): Diagnosis => ({
  runtimes: [{ name: "worktree", about: "", offered: true, isolation: "process" }],
  tests: [{ name: "worktree", ok, checks: [] }],
});

describe("X5 the steps of the setup", () => {
  it("are done when the server says so", () => {
    expect([...doneSteps({})]).toEqual([]);
    expect([...doneSteps({ projects: [project()] })]).toEqual([]);
    expect([...doneSteps({ projects: [project("/app")] })]).toEqual(["repository"]);
    const tests = [{ works: false }, { works: true }] as ProviderTest[];
    const all = {
      projects: [project("/app")],
      tests,
      diagnosis: diagnosis(true),
      budgets: [{ scope: "tenant" }] as Budget[],
      reviews: [{}] as ReviewRow[],
    };
    expect(doneSteps(all).size).toBe(5);
    expect(doneSteps({ tests: tests.slice(0, 1) }).has("key")).toBe(false);
    expect(doneSteps({ diagnosis: diagnosis(false) }).has("runtime")).toBe(false);
    const passing = [{ scope: "convoy:c" }] as Budget[];
    expect(doneSteps({ projects: [project("/app")], budgets: passing }).has("budget")).toBe(false);
    const limited = { ...project("/app"), limits: { monthlyBudgetMicros: 5 } } as Project;
    expect(doneSteps({ projects: [limited] }).has("budget")).toBe(true);
  });

  it("go on where they were left, and can be left out", () => {
    expect(stepAt(new Set(), undefined)).toBe("repository");
    expect(stepAt(new Set(["repository"]), undefined)).toBe("key");
    expect(stepAt(new Set(["repository"]), "change")).toBe("change");
    expect(stepAt(new Set(["repository", "key"]), undefined)).toBe("runtime");
    const all = new Set(["repository", "key", "runtime", "budget", "change"] as const);
    expect(stepAt(all, "x")).toBe("change");
    expect(stepAfter(new Set(["runtime", "budget"]), "key")).toBe("change");
    expect(stepAfter(new Set(), "key")).toBe("runtime");
    expect(stepAfter(new Set(), "change")).toBe("change");
  });

  it("tell what came of them", () => {
    const tests = [
      { provider: "anthropic", works: true },
      { provider: "openai", works: false },
    ] as ProviderTest[];
    const budgets = [
      { scope: "convoy:c", capMicros: 390_000 },
      { scope: "tenant", period: "daily", capMicros: 5_000_000 },
    ] as Budget[];
    const known = { projects: [project("/app")], tests, diagnosis: diagnosis(true), budgets };
    expect([...factsOf(known).values()]).toEqual([
      "app",
      "anthropic",
      "worktree is recommended",
      "$5.00 a day",
    ]);
    expect(factsOf({}).size).toBe(0);
  });

  it("name a project by its folder", () => {
    expect(nameOf("/home/ann/app/")).toBe("app");
    expect(nameOf("")).toBe("");
  });
});
