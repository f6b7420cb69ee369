import { queryOptions } from "@tanstack/react-query";
import { get, post } from "../../../api/client";
import { list } from "../../../api/list";
import type { Agent, Talk, TalkChange, TalkNode, TalkNodes } from "../../../api/types";
import { toast } from "../../../change/toasts";
import { useChange } from "../../../change/useChange";
import { onLive } from "../../../realtime/rules";
import { navigate } from "../../../router/router";
import type { Draft } from "../../../ui/useDraft";

const PAGE = 500;
/** A longer conversation is shown from its beginning up to here, and says so. */
const MOST_NODES = 20_000;
/** More snapshots than this are not searched for those of an agent. */
const MOST_SNAPSHOTS = 1_000;
const KEY = "talk";
const SNAPSHOTS = ["snapshots"] as const;
const ENDS = "ends";
type Whose = Pick<Agent, "id" | "sessionId">;
const path = ({ sessionId }: Whose) => `/api/v1/sessions/${encodeURIComponent(sessionId)}` as const;

/** The nodes of a conversation, and whether that is not all. */
export interface Nodes {
  items: readonly TalkNode[];
  isCut: boolean;
}

export const sessionQueries = {
  talk: (agent: Whose) =>
    queryOptions({
      queryKey: [KEY, agent.id, agent.sessionId],
      queryFn: () => get(path(agent)),
    }),
  nodes: (agent: Whose) => {
    const queryKey = [KEY, agent.id, agent.sessionId, "nodes"];
    return queryOptions({
      queryKey,
      // Nodes are only ever added, so what is here already is not read again.
      queryFn: ({ client }) =>
        readNodes(path(agent), client.getQueryData<Nodes>(queryKey)?.items ?? []),
    });
  },
  /** What the files of two ends differ in. */
  ends: (agent: Whose, left: number, right: number) =>
    queryOptions({
      queryKey: [ENDS, agent.id, agent.sessionId, left, right],
      queryFn: () => get(`${path(agent)}/compare?left=${left}&right=${right}`),
    }),
  snapshots: queryOptions({
    queryKey: SNAPSHOTS,
    queryFn: () => list("/api/v1/snapshots", { most: MOST_SNAPSHOTS }),
  }),
};

async function readNodes(
  session: ReturnType<typeof path>,
  known: readonly TalkNode[],
): Promise<Nodes> {
  const items = [...known];
  for (let from: number | undefined = items.length; from !== undefined; ) {
    if (items.length >= MOST_NODES) return { items, isCut: true };
    const page: TalkNodes = await get(`${session}/nodes?from=${from}&limit=${PAGE}`);
    items.push(...page.items);
    from = page.next ?? undefined;
  }
  return { items, isCut: false };
}

onLive({
  on: [
    "agent:session",
    "agent:turn",
    "agent:text",
    "agent:tool:*",
    "agent:complete",
    "agent:compacted",
  ],
  everyMs: 2_000,
  invalidate: ({ metadata: { agentId } }) => (agentId ? [[KEY, agentId]] : []),
});
onLive({ on: "agent:snapshot", invalidate: () => [SNAPSHOTS] });
// Files are read whole: those of an agent at work are not looked at after every word.
onLive({
  on: ["agent:session", "agent:turn", "agent:complete", "agent:snapshot"],
  everyMs: 10_000,
  invalidate: ({ metadata: { agentId } }) => (agentId ? [[ENDS, agentId]] : []),
});

interface AtNode {
  agent: Agent;
  node: number;
}

/** Lets another agent go on from a node, with a bead and a worktree of its own. */
export function useForkAt() {
  return useChange<AtNode, Agent>({
    what: ({ agent, node }) => `Fork ${agent.label} at node ${node}`,
    send: async ({ agent, node }) => {
      const made = await post(`${path(agent)}/fork`, { node });
      const open = { label: "Open", run: () => navigate(`/agents/${made.label}`) };
      toast({ title: `${made.label} goes on from node ${node}`, action: open });
      return made;
    },
    settle: () => [["agents"]],
  });
}

/** Begins a branch of the same conversation at a node. */
export function useBranchAt() {
  return useChange<AtNode & { name: string }, Talk>({
    what: ({ name, node }) => `Begin ${name} at node ${node}`,
    send: ({ agent, node, name }) => post(`${path(agent)}/branch`, { node, name }),
    settle: ({ agent }) => [[KEY, agent.id]],
    done: ({ name }) => `${name} begins here; switch to it to go on there`,
  });
}

/** Chooses the branch that the agent goes on with. */
export function useSwitchTo() {
  const send = (agent: Agent, name: string) => post(`${path(agent)}/switch`, { name });
  return useChange<{ agent: Agent; name: string; before: string }, Talk>({
    what: ({ name }) => `Switch to ${name}`,
    send: ({ agent, name }) => send(agent, name),
    expect: (cache, { agent, name }) =>
      cache.update<Talk | Nodes>([KEY, agent.id, agent.sessionId], (data) =>
        "branch" in data ? { ...data, branch: name } : data,
      ),
    settle: ({ agent }) => [[KEY, agent.id]],
    done: ({ agent, name }) => `${agent.label} goes on with ${name}`,
    undo: ({ agent, before }) => send(agent, before),
  });
}

/** States in which the agent uses the conversation. */
const AT_WORK = ["initializing", "spawning", "executing", "waiting", "completing"];

/** Why the conversation of an agent cannot be changed now. */
export function busyWith(agent: Agent): string | undefined {
  return AT_WORK.includes(agent.lifecycleState)
    ? `${agent.label} is at work with this session; pause it first.`
    : undefined;
}

/** What can be done with a whole conversation by one word. */
export type TalkVerb = "save" | "compact" | "resume" | "archive";

const TALK_WORDS: Record<TalkVerb, readonly [what: string, done: string]> = {
  save: ["Save the session of", "is saved where it stands"],
  compact: ["Shorten the session of", "is shorter for the model"],
  resume: ["Go on with the session of", "goes on"],
  archive: ["Put away the session of", "is put away"],
};

/** Saves, shortens, goes on with or puts away the conversation of an agent. */
export function useTalkVerb(verb: TalkVerb) {
  const [what, done] = TALK_WORDS[verb];
  return useChange<{ agent: Agent; body?: TalkChange; draft?: Draft }, Talk>({
    what: ({ agent }) => `${what} ${agent.label}`,
    send: ({ agent, body = {} }) =>
      verb === "resume" || verb === "archive"
        ? post(`${path(agent)}/${verb}`)
        : post(`${path(agent)}/${verb}`, body),
    draftOf: ({ draft }) => draft,
    settle: ({ agent }) => [[KEY, agent.id], ["agents"], ["agent", agent.id]],
    done: ({ agent }) => `The session of ${agent.label} ${done}`,
  });
}
