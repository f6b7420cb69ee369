import type { Team } from "../../api/types";
import { shellWord } from "../../ui/format";
import { amountOf, microsOf } from "../budgets/budgets";

/** How the members of a team share the work, and what that means. */
export const STRATEGIES = [
  ["parallel", "Parallel", "All work by themselves."],
  ["map-reduce", "Map and reduce", "The work is split, and the results are joined."],
  ["pipeline", "Pipeline", "Each role works on what the one before gave."],
  ["tree", "Tree", "One plans, many work, and results are joined level by level."],
] as const;

/** The fields of the form; `json` is all of it as a text, for what the form has no field for. */
export type TeamValues = Record<
  | "mode"
  | "name"
  | "strategy"
  | "goal"
  | "items"
  | "roles"
  | "agentRole"
  | "project"
  | "lead"
  | "merge"
  | "pool"
  | "size"
  | "budget"
  | "deadline"
  | "attempts"
  | "json",
  string
>;

export type Spec = Record<string, unknown>;

const NEW: TeamValues = {
  mode: "form",
  name: "",
  strategy: "parallel",
  goal: "",
  items: "",
  roles: "worker",
  agentRole: "",
  project: "",
  lead: "",
  merge: "",
  pool: "default",
  size: "2",
  budget: "",
  deadline: "",
  attempts: "3",
  json: "",
};

/** What the form begins with: nothing special, or what a team is asked to do. */
export function valuesOf(team: Team | undefined): TeamValues {
  if (!team) return NEW;
  const { spec } = team;
  const text = (name: string) => (typeof spec[name] === "string" ? (spec[name] as string) : "");
  const roles = rolesIn(spec);
  const { maxAttempts } = (spec.retry ?? {}) as { maxAttempts?: number };
  return {
    ...NEW,
    name: text("name"),
    strategy: text("strategy"),
    goal: text("goal"),
    items: (Array.isArray(spec.items) ? spec.items : []).map(lineOf).join("\n"),
    roles: roles.map(({ name }) => name).join(", "),
    agentRole: String(roles.find(({ role }) => role)?.role ?? ""),
    project: text("project"),
    lead: nameIn(spec.lead),
    merge: nameIn(spec.merge),
    pool: text("pool"),
    // One that was scaled before it began has another size than it was asked for.
    size: String(team.size),
    budget: typeof spec.budgetMicros === "number" ? amountOf(spec.budgetMicros) : "",
    deadline: text("deadline") && localMinute(text("deadline")),
    attempts: String(maxAttempts ?? ""),
    json: JSON.stringify(spec, null, 2),
  };
}

/** What the form asks for, whole. What is known of roles by their names is kept. */
export function specOf(values: TeamValues, known: Spec = {}): Spec {
  const { strategy, pool } = values;
  const micros = microsOf(values.budget);
  const before = [...rolesIn(known), ...rolesIn({ roles: [known.lead, known.merge] })];
  const role = (name: string) => roleOf(name, values, before);
  const joins = strategy === "map-reduce" || strategy === "tree";
  return {
    name: values.name.trim(),
    strategy,
    ...(values.goal.trim() !== "" && { goal: values.goal.trim() }),
    items: linesOf(values.items).map(itemOf),
    roles: namesOf(values.roles).map(role),
    ...(strategy === "tree" && values.lead.trim() !== "" && { lead: role(values.lead.trim()) }),
    ...(joins && values.merge.trim() !== "" && { merge: role(values.merge.trim()) }),
    ...(values.agentRole !== "" && values.project !== "" && { project: values.project }),
    size: Number(values.size),
    ...(micros !== undefined && { budgetMicros: micros }),
    ...(values.deadline !== "" && { deadline: new Date(values.deadline).toISOString() }),
    ...(values.attempts !== "" && {
      retry: { ...(known.retry as object | undefined), maxAttempts: Number(values.attempts) },
    }),
    ...(pool.trim() !== "" && { pool: pool.trim() }),
  };
}

/** What is another than before; null for what is not there any more. */
export function changesOf(before: Spec, after: Spec): Spec {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const isSame = (name: string) => JSON.stringify(before[name]) === JSON.stringify(after[name]);
  return Object.fromEntries(
    names.filter((name) => !isSame(name)).map((name) => [name, after[name] ?? null]),
  );
}

/** What is sent: of a new team all, of one that is there what was changed. */
export function bodyOf(values: TeamValues, team: Team | undefined): Spec {
  const known = team?.spec ?? {};
  if (values.mode === "json") {
    const told = readJson(values.json) ?? {};
    return team ? changesOf(known, told) : told;
  }
  const asked = specOf(values, known);
  return team ? changesOf(specOf(valuesOf(team), known), asked) : asked;
}

/** Why it cannot be sent yet, as a sentence. */
export function whyNotSend(values: TeamValues): string | undefined {
  if (values.mode === "json") {
    return readJson(values.json) ? undefined : "Write the team as a JSON object.";
  }
  if (values.name.trim() === "") return "Say a name first.";
  if (values.goal.trim() === "" && values.items.trim() === "") return "Say what is to be done.";
  if (namesOf(values.roles).length === 0) return "Name at least one role.";
  if (!/^[1-9]\d{0,4}$/.test(values.size.trim())) return "Say how many work at once.";
  if (values.budget !== "" && microsOf(values.budget) === undefined) {
    return "Write the budget in dollars, such as 5 or 0.25.";
  }
  return undefined;
}

/** The same on the command line; it reads the team from a file, or from what it is given. */
export function teamCli(values: TeamValues, team: Team | undefined): string {
  const text = shellWord(JSON.stringify(bodyOf(values, team)));
  const verb = team ? `update ${shellWord(team.name)}` : "create";
  return `echo ${text} | godel team ${verb} -`;
}

/** A JSON object from a text; undefined if it is none. */
export function readJson(text: string): Spec | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Spec) : undefined;
  } catch {
    return undefined;
  }
}

interface RoleIn {
  name: string;
  role?: unknown;
}

function rolesIn({ roles }: Spec): RoleIn[] {
  if (!Array.isArray(roles)) return [];
  return roles.filter((one): one is RoleIn => typeof one === "object" && one !== null);
}

function roleOf(name: string, { agentRole }: TeamValues, before: readonly RoleIn[]): object {
  const known = before.find((one) => one.name === name);
  if (known && String(known.role ?? "") === agentRole) return known;
  return agentRole === "" ? { name } : { name, role: agentRole };
}

function nameIn(role: unknown): string {
  const { name } = (role ?? {}) as { name?: unknown };
  return typeof name === "string" ? name : "";
}

function namesOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** A piece of work is a text, or an object or a list written out. */
function itemOf(line: string): unknown {
  if (!/^[[{]/.test(line)) return line;
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}

function lineOf(item: unknown): string {
  return typeof item === "string" ? item : JSON.stringify(item);
}

/** A moment as a field for date and time has it, in the reader's time zone. */
function localMinute(timestamp: string): string {
  const at = new Date(timestamp);
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
