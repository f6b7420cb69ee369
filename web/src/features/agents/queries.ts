import { queryOptions } from "@tanstack/react-query";
import { get, post } from "../../api/client";
import { list } from "../../api/list";
import type { Agent } from "../../api/types";
import { useChange } from "../../change/useChange";
import { onLiveItems } from "../../realtime/items";

const LISTS = ["agents"] as const;
const single = (id: string) => ["agent", id] as const;
const path = (id: string) => `/api/v1/agents/${encodeURIComponent(id)}`;

export const agentQueries = {
  /** Agents of a project, or of all. */
  all: (projectId?: string) =>
    queryOptions({
      queryKey: [...LISTS, { projectId }],
      queryFn: () => list<Agent>("/api/v1/agents", { filter: { projectId } }),
    }),
  one: (id: string) => queryOptions({ queryKey: single(id), queryFn: () => get<Agent>(path(id)) }),
};

onLiveItems<Agent>({
  on: ["agent:*"],
  // What an agent says and thinks is read where it is shown, not in lists.
  except: ["agent:text", "agent:thinking", "agent:output", "agent:terminal"],
  ref: "agentId",
  idOf: (agent) => agent.id,
  read: (id) => get<Agent>(path(id)),
  lists: LISTS,
  single,
});

/** What can be done to a running agent by one word. */
export type AgentVerb = "pause" | "resume" | "kill";

const EXPECTED: Record<AgentVerb, Partial<Agent>> = {
  pause: { view: "paused", status: "paused" },
  resume: { view: "busy", status: "running" },
  kill: { view: "offline", status: "killed" },
};

const WORDS: Record<AgentVerb, string> = { pause: "Pause", resume: "Resume", kill: "End" };

/** Pauses, resumes or ends an agent; the list shows it at once. */
export function useAgentVerb(verb: AgentVerb) {
  return useChange<Agent, Agent>({
    what: (agent) => `${WORDS[verb]} ${agent.label}`,
    send: (agent) => post<Agent>(`${path(agent.id)}/${verb}`),
    expect: (cache, agent) =>
      cache.update<{ items: Agent[]; isCut: boolean }>(LISTS, (listing) => ({
        ...listing,
        items: listing.items.map((one) =>
          one.id === agent.id ? { ...one, ...EXPECTED[verb] } : one,
        ),
      })),
    settle: (agent) => [LISTS, single(agent.id)],
    ...(verb === "pause" && {
      done: (agent: Agent) => `${agent.label} is paused`,
      undo: (agent: Agent) => post(`${path(agent.id)}/resume`),
    }),
    ...(verb === "kill" && { done: (agent: Agent) => `${agent.label} was ended; its work stays` }),
  });
}
