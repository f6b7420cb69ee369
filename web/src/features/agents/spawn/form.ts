import { ApiError } from "../../../api/client";
import type { Agent, NewAgent, RuntimeInfo } from "../../../api/types";
import { shellWord } from "../../../ui/format";
import { wordsIn } from "../../../ui/typed";
import { estimateFault, minutesIn } from "../../beads/fields";
import { budgetFault, microsOf } from "../../intents/wish";

export const EMPTY_FORM = {
  name: "",
  task: "",
  bead: "",
  project: "",
  role: "",
  harness: "",
  model: "",
  runtime: "",
  sandbox: "",
  allow: "",
  budget: "",
  timeout: "",
};

export type SpawnField = keyof typeof EMPTY_FORM;
/** What a person fills in, as text. */
export type SpawnForm = Record<SpawnField, string>;

/** Agents that need no command line of their own, for which these forms have no field. */
export const HARNESSES = ["native", "claude", "codex", "gemini", "opencode", "pi"] as const;
export const SANDBOXES = ["read-only", "workspace", "workspace+net", "none"] as const;

/** What is sent; what is left empty is for the server to choose. */
export function requestOf(form: SpawnForm): NewAgent {
  const words = Object.entries({
    label: form.name.trim(),
    task: form.task.trim(),
    bead: form.bead.trim(),
    projectId: form.project,
    role: form.role,
    harness: form.harness,
    model: form.model.trim(),
    runtime: form.runtime,
    sandbox: form.sandbox,
  }).filter(([, value]) => value !== "");
  const hosts = hostsOf(form);
  const micros = microsOf(form.budget);
  return {
    ...Object.fromEntries(words),
    ...(hosts.length > 0 && { allow: hosts }),
    ...(micros && { budgetMicros: micros }),
    ...(minutesIn(form.timeout) > 0 && { timeoutSeconds: minutesIn(form.timeout) * 60 }),
  };
}

function hostsOf({ sandbox, allow }: SpawnForm): string[] {
  return sandbox === "workspace+net" ? wordsIn(allow) : [];
}

/** The same on the command line. */
export function spawnCli(form: SpawnForm): string {
  const words = ["godel agent spawn"];
  if (form.task.trim() !== "") words.push(shellWord(form.task.trim()));
  for (const name of ["name", "bead", "role", "harness", "model", "runtime", "sandbox"] as const) {
    if (form[name].trim() !== "") words.push(`--${name} ${shellWord(form[name].trim())}`);
  }
  if (form.sandbox === "none") words.push("--no-walls");
  for (const host of hostsOf(form)) words.push(`--allow ${shellWord(host)}`);
  if (!budgetFault(form.budget) && form.budget.trim() !== "") {
    words.push(`--budget ${form.budget.trim().replace(/^\$/, "")}`);
  }
  if (minutesIn(form.timeout) > 0) words.push(`--timeout ${minutesIn(form.timeout)}m`);
  return words.join(" ");
}

/** What is wrong before anything is sent, by field. */
export function faultsOf(form: SpawnForm): Partial<Record<SpawnField, string>> {
  const budget = budgetFault(form.budget);
  const timeout = estimateFault(form.timeout);
  const isEmpty = form.task.trim() === "" && form.bead.trim() === "";
  return {
    ...(isEmpty && { task: "Say what is to be done, or name a bead." }),
    ...(budget && { budget }),
    ...(timeout && { timeout }),
  };
}

const BY_CODE: readonly (readonly [RegExp, SpawnField])[] = [
  [/name_taken/, "name"],
  [/timeout/, "timeout"],
  [/bead/, "bead"],
  [/role/, "role"],
  [/harness|command/, "harness"],
  [/budget|spend|quota/, "budget"],
  [/project/, "project"],
  [/model/, "model"],
  [/runtime|gvisor/, "runtime"],
  [/sandbox|walls|profile|host/, "sandbox"],
  [/\blabel\b|called/, "name"],
  [/task/, "task"],
];

/** Fields of the request that have another name here. */
const BY_FIELD: Readonly<Record<string, SpawnField>> = {
  label: "name",
  budgetMicros: "budget",
  timeoutSeconds: "timeout",
  projectId: "project",
};

/** The field that a refusal of the server is about; none if it is about all of it. */
export function fieldOf(error: Error): SpawnField | undefined {
  if (!(error instanceof ApiError) || error.status === 0) return undefined;
  const { field = "" } = error;
  const named = BY_FIELD[field] ?? (field in EMPTY_FORM ? (field as SpawnField) : undefined);
  if (named) return named;
  const byCode = BY_CODE.find(([words]) => words.test(error.code));
  if (byCode) return byCode[1];
  return BY_CODE.find(([words]) => words.test(error.message.toLowerCase()))?.[1];
}

/** Whether the form has a field now; some are asked for only where they matter. */
export function isAsked(field: SpawnField, form: SpawnForm, asksProject: boolean): boolean {
  if (field === "project") return asksProject;
  return field !== "allow" || form.sandbox === "workspace+net";
}

/** What is worth knowing about a choice before it is made. */
export function warningOf(field: SpawnField, form: SpawnForm): string | undefined {
  if (field === "sandbox" && form.sandbox === "none") {
    return "Without walls it can do all that the server can do on its machine.";
  }
  if (field === "sandbox" && form.sandbox === "read-only") {
    return "It can look but not change anything, so it brings no commit.";
  }
  return undefined;
}

/** The runtimes to choose from: those that this server does not offer cannot be chosen, and say so. */
export function runtimeOptions(runtimes: readonly RuntimeInfo[] | undefined): RuntimeOption[] {
  if (!runtimes)
    return USUAL_RUNTIMES.map((name) => ({ value: name, title: name, isRefused: false }));
  return runtimes.map(({ name, offered }) => ({
    value: name,
    title: offered ? name : `${name}: not offered by this server`,
    isRefused: !offered,
  }));
}

/** A runtime in the choice. */
export interface RuntimeOption {
  value: string;
  title: string;
  isRefused: boolean;
}

/** While the server has not said what it offers, and for those who may not ask. */
const USUAL_RUNTIMES = ["worktree", "gvisor"];
/** Where agents work unless somebody says otherwise; the server has no setting for it. */
export const USUAL_RUNTIME = "worktree";

const SNAPSHOTS: Record<string, string> = {
  none: "no snapshots",
  workspace: "snapshots are workspace only",
  volume: "snapshots of all files",
  memory: "snapshots with what runs",
};
const PAUSES: Record<string, string> = {
  none: "no pause",
  freeze: "a pause freezes it",
  cold: "a pause ends its processes",
  memory: "a pause keeps what runs",
};
const NETWORKS: Record<string, string> = {
  none: "the network cannot be limited",
  address: "the network is limited by address",
  domain: "the network is limited by host",
};

/** What a runtime can and cannot do, as a sentence; nothing while the server has not said so. */
export function capabilityWords(
  chosen: string,
  runtimes: readonly RuntimeInfo[] | undefined,
): string | undefined {
  const name = chosen || USUAL_RUNTIME;
  const runtime = runtimes?.find((one) => one.name === name);
  if (!runtime) return undefined;
  if (!runtime.offered) {
    return `This server does not offer ${name}; the settings have a test that says what it lacks.`;
  }
  const parts = [
    runtime.snapshot && (SNAPSHOTS[runtime.snapshot] ?? `snapshots: ${runtime.snapshot}`),
    runtime.pause && (PAUSES[runtime.pause] ?? `pause: ${runtime.pause}`),
    runtime.network && (NETWORKS[runtime.network] ?? `network: ${runtime.network}`),
  ].filter(Boolean);
  return parts.length > 0 ? `${name}: ${parts.join(", ")}.` : undefined;
}

/** Why a runtime that this browser or an earlier run remembers cannot be chosen any more. */
export function whyNoRuntime(
  name: string,
  runtimes: readonly RuntimeInfo[] | undefined,
): string | undefined {
  const isGone = runtimes?.some((one) => one.name === name && !one.offered);
  return isGone ? capabilityWords(name, runtimes) : undefined;
}

/** What agents like it have cost: the middle and the most, of those that are done. */
export function costSoFar(
  agents: readonly Agent[],
  { role, model }: Pick<SpawnForm, "role" | "model">,
): { runs: number; middle: number; most: number } | undefined {
  const spent = agents
    .filter((agent) => agent.status === "completed")
    .filter((agent) => agent.role === (role || "worker") && (model === "" || agent.model === model))
    .flatMap(({ spentMicros }) => (typeof spentMicros === "number" ? [spentMicros] : []))
    .toSorted((a, b) => a - b);
  const middle = spent[Math.floor(spent.length / 2)];
  const most = spent.at(-1);
  if (middle === undefined || most === undefined) return undefined;
  return { runs: spent.length, middle, most };
}
