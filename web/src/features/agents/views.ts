import type { Agent } from "../../api/types";
import { duration } from "../../ui/format";
import type { IconName } from "../../ui/Icon";
import type { Tone } from "../../ui/Status";

/** What an agent is doing, as people ask for it. */
export const VIEWS = ["waiting", "error", "busy", "starting", "paused", "idle", "offline"] as const;
export type View = (typeof VIEWS)[number];

interface Look {
  title: string;
  tone: Tone;
  icon: IconName;
}

export const LOOKS: Record<View, Look> = {
  waiting: { title: "Waiting for you", tone: "warn", icon: "hand" },
  error: { title: "Error", tone: "bad", icon: "alert" },
  busy: { title: "Busy", tone: "info", icon: "play" },
  starting: { title: "Starting", tone: "info", icon: "refresh" },
  paused: { title: "Paused", tone: "plain", icon: "pause" },
  idle: { title: "Idle", tone: "plain", icon: "circle" },
  offline: { title: "Ended", tone: "plain", icon: "check" },
};

const STARTING = ["initializing", "spawning"];

/** The view of an agent; one that begins is starting, whatever else it is. */
export function viewOf(agent: Pick<Agent, "view" | "lifecycleState">): View {
  if (STARTING.includes(agent.lifecycleState)) return "starting";
  return VIEWS.find((view) => view === agent.view) ?? "idle";
}

/** Who needs a person first, then who works, then the rest; in each the newest first. */
export function byAttention(agents: readonly Agent[]): Agent[] {
  return agents
    .map((agent) => ({ agent, view: VIEWS.indexOf(viewOf(agent)), at: agent.spawnedAt }))
    .sort((a, b) => a.view - b.view || (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
    .map(({ agent }) => agent);
}

/** What a person can narrow the agents by. */
export interface AgentFilter {
  text: string;
  view: string;
  runtime: string;
  model: string;
  team: string;
}

/** Whether an agent is one of those that are asked for. */
export function matches(agent: Agent, filter: AgentFilter): boolean {
  const { text, view, runtime, model, team } = filter;
  if (view !== "" && viewOf(agent) !== view) return false;
  if (runtime !== "" && agent.runtime !== runtime) return false;
  if (model !== "" && agent.model !== model) return false;
  if (team !== "" && (agent.teamId ?? NO_TEAM) !== team) return false;
  if (text === "") return true;
  const words = [agent.label, agent.bead, agent.task, agent.role, agent.model, agent.note ?? ""];
  return words.some((word) => word.toLowerCase().includes(text.toLowerCase()));
}

/** Whether it still runs, so that it can be paused or ended. */
export function isAlive(agent: Agent): boolean {
  return !["completed", "failed", "killed"].includes(agent.status);
}

/** Stands for agents that work for no team, in the address as well. */
export const NO_TEAM = "none";

/** How long it has been there, or was until it ended. */
export function upTime(agent: Pick<Agent, "spawnedAt" | "completedAt">, now: number): string {
  const end = agent.completedAt ? Date.parse(agent.completedAt) : now;
  return duration(Math.max(0, Math.round((end - Date.parse(agent.spawnedAt)) / 1000)));
}

/** Agents that work together. */
export interface Group {
  id: string;
  title: string;
  agents: readonly Agent[];
}

/** Agents by team, in the order in which the first of each comes; those of no team last. */
export function byTeam(agents: readonly Agent[], nameOf: ReadonlyMap<string, string>): Group[] {
  const groups = new Map<string, Agent[]>();
  for (const agent of agents) {
    const id = agent.teamId ?? NO_TEAM;
    const group = groups.get(id);
    if (group) group.push(agent);
    else groups.set(id, [agent]);
  }
  const ids = [...groups.keys()].toSorted((a, b) => Number(a === NO_TEAM) - Number(b === NO_TEAM));
  return ids.map((id) => ({
    id,
    title: id === NO_TEAM ? "No team" : (nameOf.get(id) ?? `Team ${id.slice(-8)}`),
    agents: groups.get(id) ?? [],
  }));
}

/** So many cards of a team are drawn at most, and so many of all teams together; the table shows all. */
const TEAM_CARDS_MOST = 48;
export const CARDS_MOST = 192;

/** How many cards each team that is not folded may draw: those that come first draw first. */
export function sharesOf(
  groups: readonly Group[],
  closed: readonly string[],
): ReadonlyMap<string, number> {
  let left = CARDS_MOST;
  const shares = new Map<string, number>();
  for (const { id, agents } of groups) {
    if (closed.includes(id)) continue;
    const share = Math.min(agents.length, TEAM_CARDS_MOST, left);
    shares.set(id, share);
    left -= share;
  }
  return shares;
}

/** How many there are of each view, those that need a person first: `1 waiting for you, 3 busy`. */
export function tallyOf(agents: readonly Agent[]): string {
  return VIEWS.flatMap((view) => {
    const many = agents.filter((agent) => viewOf(agent) === view).length;
    return many === 0 ? [] : [`${many} ${LOOKS[view].title.toLowerCase()}`];
  }).join(", ");
}
