import type { Team } from "../../api/types";
import { shellWord } from "../../ui/format";
import { listIn, objectIn } from "../../ui/typed";
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

/** Why a text is no team. */
export const NO_OBJECT = "Write the team as a JSON object.";

/** What a team is asked to do, as the server has it. */
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

/** What the form shows of a team that says nothing about it. */
const UNSAID: TeamValues = { ...NEW, strategy: "", roles: "", pool: "", size: "", attempts: "" };

/** What the form begins with: nothing special, or what a team is asked to do. */
export function valuesOf(team: Team | undefined): TeamValues {
  if (!team) return NEW;
  const known = knownOf(team);
  return { ...valuesIn(known, UNSAID), json: JSON.stringify(known, null, 2) };
}

/** What a team is asked to do. One that was scaled before it began has another size than it was asked for. */
function knownOf(team: Team | undefined): Spec {
  return team ? { ...team.spec, size: team.size } : {};
}

/** The fields of the form as a text says them, or as they are `unless` it does. */
function valuesIn(spec: Spec, unless: TeamValues): TeamValues {
  const text = (name: keyof TeamValues) => {
    const said = spec[name];
    return typeof said === "string" || typeof said === "number" ? String(said) : unless[name];
  };
  const roles = rolesIn(spec);
  const { maxAttempts } = (spec.retry ?? {}) as { maxAttempts?: number };
  const { deadline, budgetMicros } = spec;
  return {
    ...unless,
    name: text("name"),
    strategy: text("strategy"),
    goal: text("goal"),
    items: (Array.isArray(spec.items) ? spec.items : []).map(lineOf).join("\n"),
    roles: "roles" in spec ? roles.map(({ name }) => name).join(", ") : unless.roles,
    agentRole: String(roles.find(({ role }) => role)?.role ?? ""),
    project: text("project"),
    lead: nameIn(spec.lead),
    merge: nameIn(spec.merge),
    pool: text("pool"),
    size: text("size"),
    budget: typeof budgetMicros === "number" ? amountOf(budgetMicros) : "",
    deadline: typeof deadline === "string" ? localMinute(deadline) : "",
    attempts: String(maxAttempts ?? unless.attempts),
  };
}

/** What changes in the form when it is told in another way; undefined if the text is no team. */
export function toldAs(
  mode: "form" | "json",
  values: TeamValues,
  team: Team | undefined,
): Partial<TeamValues> | undefined {
  if (mode === values.mode) return {};
  if (mode === "json") return { mode, json: JSON.stringify(askedIn(values, team), null, 2) };
  if (values.json.trim() === "") return { mode };
  const spec = objectIn(values.json);
  return spec && { ...valuesIn(spec, team ? UNSAID : NEW), json: values.json, mode };
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
    roles: listIn(values.roles).map(role),
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

/** All that is asked for; what the form has no field for is as the text says it, or said it last. */
function askedIn(values: TeamValues, team: Team | undefined): Spec {
  const text = objectIn(values.json);
  if (values.mode === "json") return text ?? {};
  const base = text ?? knownOf(team);
  const after = specOf(values, base);
  // A field may show less than the text says, such as no seconds: only what was changed in it counts.
  const changed = changesOf(specOf(valuesIn(base, team ? UNSAID : NEW), base), after);
  const all = Object.entries({ ...(!team && after), ...base, ...changed });
  return Object.fromEntries(all.filter(([name, value]) => !(name in changed && value === null)));
}

/** What is sent: of a new team all, of one that is there what was changed. */
export function bodyOf(values: TeamValues, team: Team | undefined): Spec {
  const asked = askedIn(values, team);
  return team ? changesOf(knownOf(team), asked) : asked;
}

/** Why it cannot be sent yet, as a sentence. */
export function whyNotSend(values: TeamValues): string | undefined {
  if (values.mode === "json") {
    return objectIn(values.json) ? undefined : NO_OBJECT;
  }
  if (values.name.trim() === "") return "Say a name first.";
  if (values.goal.trim() === "" && values.items.trim() === "") return "Say what is to be done.";
  if (listIn(values.roles).length === 0) return "Name at least one role.";
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
