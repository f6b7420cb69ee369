import type { Task } from "../../api/types";
import { shellWord } from "../../ui/format";
import type { TaskVerb } from "./useTaskActs";

/** The same on the command line. */
export function cliOf(verb: TaskVerb, tasks: readonly Task[]): string {
  return tasks.map(({ id }) => `godel task ${verb} ${id.slice(-8)}`).join("\n");
}

/** How tasks are cancelled with a reason on the command line. */
export function cancelCli(tasks: readonly Task[], reason: string): string {
  return tasks
    .map(({ id }) => `godel task cancel ${id.slice(-8)} --reason ${shellWord(reason || "...")}`)
    .join("\n");
}
