import {
  type QueryClient,
  queryOptions,
  type UseMutationResult,
  useQuery,
} from "@tanstack/react-query";
import { get, post, remove } from "../../api/client";
import { type Listing, list } from "../../api/list";
import type { Agent, AgentSnapshot, RestartAgent } from "../../api/types";
import { type Several, several, tellRefused } from "../../change/several";
import { toast } from "../../change/toasts";
import { type Rehearsal, useChange } from "../../change/useChange";
import { onLiveItems } from "../../realtime/items";
import { onLive } from "../../realtime/rules";
import { plural } from "../../ui/format";
import type { Draft } from "../../ui/useDraft";

const LISTS = ["agents"] as const;
const TEAMS = ["teams"] as const;
const single = (id: string) => ["agent", id] as const;
const changes = (id: string) => ["agent-changes", id] as const;
const calls = (id: string) => ["agent-calls", id] as const;
const path = (id: string) => `/api/v1/agents/${encodeURIComponent(id)}` as const;
type AgentPath = ReturnType<typeof path>;

export const agentQueries = {
  /** Agents of a project, or of all. */
  all: (projectId?: string) =>
    queryOptions({
      queryKey: [...LISTS, { projectId }],
      queryFn: () => list("/api/v1/agents", { filter: { projectId } }),
    }),
  one: (id: string) => queryOptions({ queryKey: single(id), queryFn: () => get(path(id)) }),
  roles: queryOptions({
    queryKey: ["roles"],
    queryFn: async () => (await get("/api/v1/roles")).items,
  }),
  teams: queryOptions({ queryKey: TEAMS, queryFn: () => list("/api/v1/teams") }),
  /** What the branch of its bead changes. */
  changes: ({ id, bead, projectId }: Agent) =>
    queryOptions({
      queryKey: changes(id),
      queryFn: () =>
        get(
          `/api/v1/reviews/${encodeURIComponent(bead)}/diff?${new URLSearchParams({ projectId })}`,
        ),
    }),
  /** Its requests to models, the newest first. */
  calls: (id: string) =>
    queryOptions({
      queryKey: calls(id),
      queryFn: () => get(`/proxy/v1/audit?${new URLSearchParams({ agent: id, limit: "1000" })}`),
    }),
};

/** Models that agents have had, to choose from. */
export function useKnownModels(): readonly string[] {
  return useQuery({ ...agentQueries.all(), select: modelsOf }).data ?? NO_MODELS;
}

const NO_MODELS: readonly string[] = [];
const modelsOf = ({ items }: Listing<Agent>) =>
  [...new Set(items.map(({ model }) => model))].filter(Boolean).toSorted();

/** Agents as far as the page has read them and nothing changed since; for who must not be drawn with each of them. */
export function agentsKnown(client: QueryClient): readonly Agent[] {
  const lists = client
    .getQueryCache()
    .findAll({ queryKey: LISTS, predicate: ({ state }) => !state.isInvalidated });
  return lists.flatMap(({ state }) => (state.data as Listing<Agent> | undefined)?.items ?? []);
}

onLiveItems<Agent>({
  on: ["agent:*"],
  // What an agent says and thinks is read where it is shown, not in lists.
  except: ["agent:text", "agent:thinking", "agent:output", "agent:terminal"],
  ref: "agentId",
  idOf: (agent) => agent.id,
  read: (id) => get(path(id)),
  lists: LISTS,
  single,
});
onLive({ on: "team:*", invalidate: () => [TEAMS] });
onLive({
  on: ["agent:usage", "agent:complete", "agent:turn"],
  invalidate: ({ metadata: { agentId } }) => (agentId ? [calls(agentId)] : []),
});
onLive({
  on: ["agent:commit", "agent:file", "agent:complete", "agent:tool:result"],
  everyMs: 3_000,
  invalidate: ({ metadata: { agentId } }) => (agentId ? [changes(agentId)] : []),
});

/** What can be done to an agent by one word. */
export const VERBS = [
  "message",
  "pause",
  "resume",
  "takeover",
  "restart",
  "snapshot",
  "fork",
  "kill",
] as const;
export type AgentVerb = (typeof VERBS)[number];
/** To take over is to go to its shell, and an end keeps a snapshot first; all others are one request. */
type SentVerb = Exclude<AgentVerb, "takeover" | "kill">;

/** A verb for one agent, with what is said to it. */
export interface Deed {
  agent: Agent;
  text?: string;
  copies?: number;
  restart?: RestartAgent;
  /** What the text was written as. */
  draft?: Draft;
}

interface VerbRule {
  what: string;
  send: (at: AgentPath, deed: Deed) => Promise<unknown>;
  expected?: Partial<Agent>;
  done?: (name: string, deed: Deed) => string;
  undo?: SentVerb;
}

/** Copies take longer than the other verbs. */
const FORK_MS = 120_000;

const RULES: Record<SentVerb, VerbRule> = {
  message: {
    what: "Tell",
    send: (at, { text = "" }) => post(`${at}/message`, { text }),
    done: (name) => `${name} reads it at its next safe point`,
  },
  pause: {
    what: "Pause",
    send: (at) => post(`${at}/pause`),
    expected: { view: "paused", status: "paused" },
    done: (name) => `${name} is paused`,
    undo: "resume",
  },
  resume: {
    what: "Resume",
    send: (at) => post(`${at}/resume`),
    expected: { view: "busy", status: "running" },
  },
  restart: {
    what: "Restart",
    send: (at, { restart = {} }) => post(`${at}/restart`, restart),
    expected: { view: "busy", lifecycleState: "initializing", status: "running" },
    done: (name) => `${name} begins anew in the same worktree`,
  },
  snapshot: {
    what: "Snapshot",
    send: (at) => post(`${at}/snapshot`),
    done: (name) => `Files and conversation of ${name} are kept`,
  },
  fork: {
    what: "Fork",
    send: (at, { copies = 1 }) => post(`${at}/fork`, { copies }, FORK_MS),
    done: (name, { copies = 1 }) =>
      copies === 1
        ? `A copy of ${name} goes on by itself`
        : `${copies} copies of ${name} go on by themselves`,
  },
};

/** Shows a change of an agent everywhere at once. */
function expectAgent(cache: Rehearsal, agent: Agent, expected: Partial<Agent>): void {
  const changed = (one: Agent) => (one.id === agent.id ? { ...one, ...expected } : one);
  cache.update<Listing<Agent>>(LISTS, (all) => ({ ...all, items: all.items.map(changed) }));
  cache.update<Agent>(single(agent.id), changed);
}

/** Does one thing to an agent; the list shows it at once. */
export function useAgentVerb(verb: SentVerb) {
  const { what, send, expected, done, undo } = RULES[verb];
  return useChange<Deed, unknown>({
    what: ({ agent }) => `${what} ${agent.label}`,
    send: (deed) => send(path(deed.agent.id), deed),
    expect: (cache, { agent }) => {
      if (expected) expectAgent(cache, agent, expected);
    },
    draftOf: ({ draft }) => draft,
    settle: ({ agent }) => [LISTS, single(agent.id)],
    ...(done && { done: (deed: Deed) => done(deed.agent.label, deed) }),
    ...(undo && { undo: (deed: Deed) => RULES[undo].send(path(deed.agent.id), deed) }),
  });
}

/** Forgets an agent that has ended, with its conversation; its worktree and its commits stay. */
export function useDeleteAgent() {
  return useChange<Agent, void>({
    what: (agent) => `Delete ${agent.label}`,
    send: (agent) => remove(path(agent.id)),
    expect: (cache, agent) =>
      cache.update<Listing<Agent>>(LISTS, (all) => ({
        ...all,
        items: all.items.filter(({ id }) => id !== agent.id),
      })),
    settle: () => [LISTS],
    done: (agent) => `${agent.label} is deleted; its commits stay`,
  });
}

/** Files are put in place before it is answered. */
export const RESTORE_MS = 120_000;

/** An agent that is stuck makes no snapshot; whoever wants its end does not wait for one for long. */
const SNAPSHOT_BEFORE_END_MS = 5_000;

/** States in which there is a sandbox to look into. */
export const AT_WORK = ["executing", "waiting", "completing"];

/**
 * Ends an agent. What it has at that moment is kept first if there is a sandbox, and then it can be taken back: by a new
 * agent with the same files and conversation.
 */
export function useKillAgent() {
  return useChange<Deed, unknown>({
    what: ({ agent }) => `End ${agent.label}`,
    send: END.send,
    expect: (cache, { agent }) => expectAgent(cache, agent, END.expected),
    settle: ({ agent }) => [LISTS, single(agent.id)],
    done: ({ agent: { label } }, kept) =>
      kept
        ? `${label} was ended, and a snapshot is kept. Undo lets a new agent go on from it.`
        : `${label} was ended; its work stays`,
    canUndo: (_, kept) => kept !== undefined,
    undo: async (deed, kept) => {
      const fresh = await END.undo(deed, kept);
      toast({ title: `${fresh.label} goes on where ${deed.agent.label} was ended` });
    },
  });
}

/** How an agent is ended, and how that is taken back. */
const END = {
  expected: { view: "offline", status: "killed", lifecycleState: "killed" },
  send: async ({ agent }: Deed): Promise<unknown> => {
    const kept = AT_WORK.includes(agent.lifecycleState) ? await snapshotOf(agent) : undefined;
    await post(`${path(agent.id)}/kill`);
    return kept;
  },
  undo: (_: Deed, kept: unknown): Promise<Agent> => {
    const { id } = kept as AgentSnapshot;
    return post(`/api/v1/snapshots/${encodeURIComponent(id)}/restore`, undefined, RESTORE_MS);
  },
};

/** What is done to several agents at once. */
interface Deeds {
  verb: Exclude<AgentVerb, "message" | "takeover">;
  deeds: readonly Deed[];
}

/** What is told of them when it was done, however many they are. */
const MANY_DONE: Record<Deeds["verb"], string> = {
  pause: "paused",
  resume: "resumed",
  restart: "begun anew in the same worktree",
  snapshot: "files and conversation are kept",
  fork: "copies go on by themselves",
  kill: "ended; what was at work is kept in snapshots",
};

/** A browser asks one server no more at once, and what waits there is timed already. */
const AT_ONCE = 6;

/** Does one thing to several agents: one message for all, one way back, and a reason for those that refused. */
export function useManyAgents() {
  const wordOf = (verb: Deeds["verb"]) => (verb === "kill" ? "End" : RULES[verb].what);
  const change: UseMutationResult<Several<Deed>, Error, Deeds, Rehearsal> = useChange<
    Deeds,
    Several<Deed>
  >({
    what: ({ verb, deeds }) => `${wordOf(verb)} ${plural(deeds.length, "agent")}`,
    send: ({ verb, deeds }) =>
      several(
        deeds,
        (deed): Promise<unknown> =>
          verb === "kill" ? END.send(deed) : RULES[verb].send(path(deed.agent.id), deed),
        AT_ONCE,
      ),
    expect: (cache, { verb, deeds }) => {
      const expected = verb === "kill" ? END.expected : RULES[verb].expected;
      for (const { agent } of expected ? deeds : []) expectAgent(cache, agent, expected ?? {});
    },
    settle: ({ deeds }) => [LISTS, ...deeds.map(({ agent }) => single(agent.id))],
    done: ({ verb, deeds }, outcome) => {
      const namesOf = (refused: readonly Deed[]) => refused.map(({ agent }) => agent.label);
      tellRefused(
        (refused) => `${wordOf(verb)} ${namesOf(refused).join(", ")}`,
        outcome,
        (refused) => change.mutate({ verb, deeds: refused }),
      );
      const well = outcome.done.length;
      return `${well === deeds.length ? "" : `${well} of `}${plural(deeds.length, "agent")}: ${MANY_DONE[verb]}`;
    },
    canUndo: ({ verb }, { done }) => done.some((one) => undoOf(verb, one)),
    undo: async ({ verb }, { done }) => {
      const ways = done.flatMap((one) => undoOf(verb, one) ?? []);
      const { refused } = await several(ways, (way) => way(), AT_ONCE);
      if (refused[0]) throw refused[0].error;
    },
  });
  return change;
}

/** How what was done to one agent is taken back; none if it cannot be. */
function undoOf(
  verb: Deeds["verb"],
  { thing: deed, output }: Several<Deed>["done"][number],
): (() => Promise<unknown>) | undefined {
  if (verb === "kill") return output === undefined ? undefined : () => END.undo(deed, output);
  const { undo } = RULES[verb];
  return undo && (() => RULES[undo].send(path(deed.agent.id), deed));
}

/** A snapshot that cannot be taken must not keep alive what somebody wants to end. */
async function snapshotOf({ id }: Agent): Promise<AgentSnapshot | undefined> {
  try {
    return await post(`${path(id)}/snapshot`, undefined, SNAPSHOT_BEFORE_END_MS);
  } catch {
    return undefined;
  }
}
