import { ApiError } from "../../../api/client";
import type { Agent, NewAgent } from "../../../api/types";
import { budgetFault, microsOf } from "../../intents/wish";

/** What a person fills in, as text. */
export interface SpawnForm {
  task: string;
  bead: string;
  project: string;
  role: string;
  harness: string;
  model: string;
  runtime: string;
  sandbox: string;
  allow: string;
  budget: string;
}

export type SpawnField = keyof SpawnForm;

export const EMPTY_FORM: SpawnForm = {
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
};

export const HARNESSES = ["native", "claude", "codex", "gemini", "opencode", "pi"] as const;
export const RUNTIMES = ["worktree", "gvisor"] as const;
export const SANDBOXES = ["read-only", "workspace", "workspace+net", "none"] as const;

/** What is sent; what is left empty is for the server to choose. */
export function requestOf(form: SpawnForm): NewAgent {
  const words = Object.entries({
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
  };
}

function hostsOf({ sandbox, allow }: SpawnForm): string[] {
  return sandbox === "workspace+net" ? allow.split(/[\s,]+/).filter(Boolean) : [];
}

/** The same on the command line. */
export function spawnCli(form: SpawnForm): string {
  const words = ["godel agent spawn"];
  if (form.task.trim() !== "") words.push(JSON.stringify(form.task.trim()));
  for (const name of ["bead", "role", "harness", "model", "runtime", "sandbox"] as const) {
    if (form[name].trim() !== "") words.push(`--${name} ${form[name].trim()}`);
  }
  if (form.sandbox === "none") words.push("--no-walls");
  for (const host of hostsOf(form)) words.push(`--allow ${host}`);
  if (!budgetFault(form.budget) && form.budget.trim() !== "") {
    words.push(`--budget ${form.budget.trim().replace(/^\$/, "")}`);
  }
  return words.join(" ");
}

/** What is wrong before anything is sent, by field. */
export function faultsOf(form: SpawnForm): Partial<Record<SpawnField, string>> {
  const budget = budgetFault(form.budget);
  const isEmpty = form.task.trim() === "" && form.bead.trim() === "";
  return {
    ...(isEmpty && { task: "Say what is to be done, or name a bead." }),
    ...(budget && { budget }),
  };
}

const BY_CODE: readonly (readonly [RegExp, SpawnField])[] = [
  [/bead/, "bead"],
  [/role/, "role"],
  [/harness|command/, "harness"],
  [/budget|spend|quota/, "budget"],
  [/project/, "project"],
  [/model/, "model"],
  [/runtime|gvisor/, "runtime"],
  [/sandbox|walls|profile|host/, "sandbox"],
  [/task/, "task"],
];

/** The field that a refusal of the server is about; none if it is about all of it. */
export function fieldOf(error: Error): SpawnField | undefined {
  if (!(error instanceof ApiError) || error.status === 0) return undefined;
  const byCode = BY_CODE.find(([words]) => words.test(error.code));
  if (byCode) return byCode[1];
  return BY_CODE.find(([words]) => words.test(error.message.toLowerCase()))?.[1];
}

/** What is worth knowing about a choice before it is made. */
export function warningOf(field: SpawnField, form: SpawnForm): string | undefined {
  if (field === "sandbox" && form.sandbox === "none") {
    return "Without walls it can do all that the server can do on its machine.";
  }
  if (field === "sandbox" && form.sandbox === "read-only") {
    return "It can look but not change anything, so it brings no commit.";
  }
  if (field === "runtime" && form.runtime === "gvisor") {
    return "It needs gVisor on the server; without it the agent fails at its start.";
  }
  return undefined;
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
