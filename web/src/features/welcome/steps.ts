import type { Budget, Project, ProviderTest, ReviewRow } from "../../api/types";
import { money } from "../../ui/format";
import { type Diagnosis, recommended } from "./doctor";

/** The way from nothing to the first reviewed change. */
export const STEPS = ["repository", "key", "runtime", "budget", "change"] as const;
export type StepId = (typeof STEPS)[number];

/** What the server says; what was not read yet is missing. */
export interface Known {
  projects?: readonly Project[] | undefined;
  tests?: readonly ProviderTest[] | undefined;
  diagnosis?: Diagnosis | undefined;
  budgets?: readonly Budget[] | undefined;
  reviews?: readonly ReviewRow[] | undefined;
}

/** The project that the setup is about: the newest one that has a repository. */
export function projectOf(projects: readonly Project[] = []): Project | undefined {
  return projects.find((one) => one.repository) ?? projects[0];
}

/** What of a budget the setup tells. */
export type Limit = Pick<Budget, "capMicros" | "period" | "hardStop" | "gracePercent">;

/** What holds for all that is done in the project; the budget of a convoy or an agent ends with it. */
export function limitOf(budgets: readonly Budget[] = [], project?: Project): Limit | undefined {
  const cap = project?.limits?.monthlyBudgetMicros;
  return (
    budgets.find(({ scope }) => scope === "tenant") ??
    budgets.find(({ scope }) => project && scope === `project:${project.id}`) ??
    (cap ? { capMicros: cap, period: "monthly" } : undefined)
  );
}

/** Which steps are done; the server is asked, so it does not matter who did them, and where. */
export function doneSteps(known: Known): ReadonlySet<StepId> {
  const { projects, tests, diagnosis, budgets, reviews } = known;
  const done = new Set<StepId>();
  const project = projectOf(projects);
  if (project?.repository) done.add("repository");
  if (tests?.some(({ works }) => works)) done.add("key");
  if (diagnosis && recommended(diagnosis)) done.add("runtime");
  if (limitOf(budgets, project)) done.add("budget");
  if (reviews && reviews.length > 0) done.add("change");
  return done;
}

/** For how long a budget is, behind what it is. */
const EACH: Record<Budget["period"], string> = { total: "", daily: " a day", monthly: " a month" };

/** What came of the steps, in a word or two each, so that nobody has to open them. */
export function factsOf({ projects, tests, diagnosis, budgets }: Known): Map<StepId, string> {
  const works = (tests ?? []).filter((test) => test.works).map(({ provider }) => provider);
  const best = diagnosis && recommended(diagnosis);
  const limit = limitOf(budgets, projectOf(projects));
  const facts: [StepId, string | undefined][] = [
    ["repository", projectOf(projects)?.name],
    ["key", works.length > 0 ? [...new Set(works)].join(", ") : undefined],
    ["runtime", best && `${best.name} is recommended`],
    ["budget", limit && `${money(limit.capMicros)}${EACH[limit.period] ?? ""}`],
  ];
  return new Map(facts.filter((fact): fact is [StepId, string] => fact[1] !== undefined));
}

/** The step to be at: the one that was chosen, else the first that is not done. */
export function stepAt(done: ReadonlySet<StepId>, chosen: string | undefined): StepId {
  return (
    STEPS.find((step) => step === chosen) ??
    STEPS.find((step) => !done.has(step)) ??
    (STEPS.at(-1) as StepId)
  );
}

/** The next step that is not done, behind one that is left. */
export function stepAfter(done: ReadonlySet<StepId>, step: StepId): StepId {
  const rest = STEPS.slice(STEPS.indexOf(step) + 1);
  return rest.find((one) => !done.has(one)) ?? rest.at(-1) ?? step;
}

/** A name for the project of a path: its last part. */
export function nameOf(path: string): string {
  return path.trim().split("/").filter(Boolean).at(-1) ?? "";
}

/** A name for the project of what is cloned: `app` of `git@example.org:acme/app.git`. */
export function nameOfUrl(url: string): string {
  const path = url.trim().replace(/^\w+:\/\/[^/]*/, "");
  return (
    path
      .split(/[/:]/)
      .filter(Boolean)
      .at(-1)
      ?.replace(/\.git$/, "") ?? ""
  );
}
