import type { Team } from "../../api/types";
import { shellWord } from "../../ui/format";
import type { TeamAct } from "./actions";

/** Where a team can be. */
export const TEAM_STATES = [
  "running",
  "paused",
  "created",
  "completed",
  "failed",
  "cancelled",
] as const;

/** True when a team has come to its end, one way or another. */
export function isOver({ state }: Pick<Team, "state">): boolean {
  return ["completed", "failed", "cancelled"].includes(state);
}

const ALLOWED: Record<TeamAct, readonly string[]> = {
  start: ["created"],
  pause: ["running"],
  resume: ["paused"],
  complete: ["running", "paused"],
  cancel: ["created", "running", "paused"],
  update: ["created", "running", "paused"],
  delete: ["created", "completed", "failed", "cancelled"],
};

const INSTEAD: Partial<Record<TeamAct, string>> = {
  start: "only one that was not started yet can be",
  update: "make another",
  delete: "cancel it first",
};

/** Why something makes no sense for a team now, as a sentence. */
export function whyNot(act: TeamAct, { state }: Pick<Team, "state">): string | undefined {
  if (ALLOWED[act].includes(state)) return undefined;
  const instead = INSTEAD[act];
  return `It is ${state}${instead ? `; ${instead}` : ""}.`;
}

/** The same on the command line. */
export function cliOf(act: TeamAct, { name }: Pick<Team, "name">): string {
  return `godel team ${act} ${shellWord(name)}${act === "update" ? " FILE" : ""}`;
}

/** When it must be done, if that was said. */
export function deadlineOf({ spec }: Pick<Team, "spec">): string | undefined {
  return typeof spec.deadline === "string" ? spec.deadline : undefined;
}

/** The names of its roles. */
export function rolesOf({ spec }: Pick<Team, "spec">): string[] {
  if (!Array.isArray(spec.roles)) return [];
  return spec.roles.map((role) => String((role as { name?: unknown }).name ?? "role"));
}

const ORDER = ["succeeded", "running", "ready", "waiting", "pending", "failed"] as const;

/** How many steps of its run are in each state that has any, those that are done first. */
export function countsOf({ counts }: Pick<Team, "counts">): [state: string, many: number][] {
  const rest = Object.keys(counts).filter((state) => !ORDER.some((one) => one === state));
  return [...ORDER, ...rest]
    .map((state) => [state, counts[state as keyof typeof counts]] as [string, number])
    .filter(([, many]) => many > 0);
}

/** Those that somebody should look at first, then those that work; the newest first among equals. */
export function byAttention(teams: readonly Team[]): Team[] {
  const rank = (team: Team) => {
    if (team.alert && !isOver(team)) return -1;
    return TEAM_STATES.indexOf(team.state as (typeof TEAM_STATES)[number]);
  };
  return teams.toSorted(
    (one, other) => rank(one) - rank(other) || other.createdAt.localeCompare(one.createdAt),
  );
}
