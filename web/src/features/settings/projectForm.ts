import type { Project } from "../../api/types";
import { listIn } from "../../ui/typed";
import { microsOf } from "../budgets/budgets";

/** What the form of a project has, as it is typed. */
export type ProjectFields = Record<
  "name" | "description" | "repository" | "budget" | "agents" | "rate" | "models",
  string
>;

const TITLES: Record<keyof ProjectFields, string> = {
  name: "Name",
  description: "Description",
  repository: "Repository",
  budget: "Budget",
  agents: "Agents",
  rate: "Requests",
  models: "Models",
};

/** What will be different when it is saved. */
export function changesOf(
  before: ProjectFields,
  after: ProjectFields,
): { name: string; before: string; after: string }[] {
  return (Object.keys(TITLES) as (keyof ProjectFields)[])
    .filter((name) => before[name].trim() !== after[name].trim())
    .map((name) => ({ name: TITLES[name], before: before[name], after: after[name].trim() }));
}

/** The limits as the server takes them: all of them, as those that are left out would be gone. */
export function limitsOf(
  before: Partial<Project["limits"]> | undefined,
  { budget, agents, rate, models }: ProjectFields,
): Project["limits"] {
  const number = (text: string) => (text.trim() === "" ? null : Number(text));
  return {
    cpuMillis: before?.cpuMillis ?? null,
    memoryBytes: before?.memoryBytes ?? null,
    monthlyBudgetMicros: microsOf(budget) ?? null,
    maxAgents: number(agents),
    requestsPerMinute: number(rate),
    models: listIn(models),
  };
}
