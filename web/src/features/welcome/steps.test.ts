import { describe, expect, it } from "vitest";
import type { Budget, Project, ProviderTest, ReviewRow } from "../../api/types";
import { doneSteps, nameOf, stepAfter, stepAt } from "./steps";

const project = (repository?: string) => ({ id: "p", name: "app", repository }) as Project;

describe("X5 the steps of the setup", () => {
  it("are done when the server says so", () => {
    expect([...doneSteps({})]).toEqual([]);
    expect([...doneSteps({ projects: [project()] })]).toEqual([]);
    expect([...doneSteps({ projects: [project("/app")] })]).toEqual(["repository"]);
    const tests = [{ works: false }, { works: true }] as ProviderTest[];
    const all = {
      projects: [project("/app")],
      tests,
      budgets: [{}] as Budget[],
      reviews: [{}] as ReviewRow[],
    };
    expect(doneSteps(all).size).toBe(4);
    expect(doneSteps({ tests: tests.slice(0, 1) }).has("key")).toBe(false);
    const limited = { ...project("/app"), limits: { monthlyBudgetMicros: 5 } } as Project;
    expect(doneSteps({ projects: [limited] }).has("budget")).toBe(true);
  });

  it("go on where they were left, and can be left out", () => {
    expect(stepAt(new Set(), undefined)).toBe("repository");
    expect(stepAt(new Set(["repository"]), undefined)).toBe("key");
    expect(stepAt(new Set(["repository"]), "change")).toBe("change");
    expect(stepAt(new Set(["repository", "key", "budget", "change"]), "x")).toBe("change");
    expect(stepAfter(new Set(["budget"]), "key")).toBe("change");
    expect(stepAfter(new Set(), "change")).toBe("change");
  });

  it("name a project by its folder", () => {
    expect(nameOf("/home/ann/app/")).toBe("app");
    expect(nameOf("")).toBe("");
  });
});
