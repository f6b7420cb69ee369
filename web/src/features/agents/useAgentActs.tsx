import { useAction } from "../../actions/actions";
import { keysOf } from "../../actions/keymap";
import type { Agent } from "../../api/types";
import { confirm } from "../../change/confirm";
import { navigate } from "../../router/router";
import type { MenuItem } from "../../ui/Menu";
import { AGENT, DELETE } from "./actions";
import { askForMessage, messageDraft } from "./MessageDialog";
import {
  type AgentVerb,
  AT_WORK,
  type Deed,
  useAgentVerb,
  useDeleteAgent,
  useKillAgent,
  useManyAgents,
  VERBS,
} from "./queries";
import { useForeignAgent } from "./useForeignAgent";
import { askForCopies, askForRestart } from "./VerbDialogs";
import { isAlive, viewOf } from "./views";

/** Tells why a verb cannot be done to an agent: it is another's, or it makes no sense now. */
export function useWhyNot(): (verb: AgentVerb, agent: Agent) => string | undefined {
  const foreign = useForeignAgent();
  return (verb, agent) => foreign(agent) ?? whyNot(verb, agent);
}

function whyNot(verb: AgentVerb, agent: Agent): string | undefined {
  const { label } = agent;
  if (verb === "restart" && agent.lifecycleState === "failed") return undefined;
  if (!isAlive(agent)) return `${label} has ended.`;
  const isPaused = viewOf(agent) === "paused";
  if (verb === "pause" && isPaused) return `${label} is paused already.`;
  if (verb === "resume" && !isPaused) return `${label} is not paused.`;
  if (verb === "restart" && isPaused) return `${label} is paused; resume it first.`;
  if ((verb === "snapshot" || verb === "fork") && !AT_WORK.includes(agent.lifecycleState)) {
    return `${label} is not at work; there is no sandbox to copy.`;
  }
  if (verb === "takeover" && !AT_WORK.includes(agent.lifecycleState)) {
    return `${label} is not at work; there is no sandbox to take over.`;
  }
  return undefined;
}

/** The same on the command line; most verbs take one agent at a time. */
export function cliOf(verb: AgentVerb, agents: readonly Agent[]): string {
  const names = agents.map((agent) => agent.label);
  if (verb === "message") return names.map((name) => `godel agent message ${name} "…"`).join("; ");
  if (verb === "takeover")
    return names.map((name) => `godel agent attach ${name} --terminal --take`).join("; ");
  return names.map((name) => `godel agent ${verb} ${name}`).join("; ");
}

/** What can be done to agents: one call for buttons, menus, keys and the palette. */
export function useAgentActs() {
  const verbs = {
    message: useAgentVerb("message"),
    pause: useAgentVerb("pause"),
    resume: useAgentVerb("resume"),
    restart: useAgentVerb("restart"),
    snapshot: useAgentVerb("snapshot"),
    fork: useAgentVerb("fork"),
    kill: useKillAgent(),
  };
  const many = useManyAgents();
  const deletion = useDeleteAgent();
  const refusedOf = useWhyNot();
  const foreign = useForeignAgent();
  const act = async (verb: AgentVerb, agents: readonly Agent[]) => {
    const able = agents.filter((agent) => refusedOf(verb, agent) === undefined);
    if (able.length === 0) return;
    if (verb === "takeover") {
      const [only] = able;
      if (only) navigate(`/agents/${encodeURIComponent(only.id)}?tab=terminal&show=shell&take=1`);
      return;
    }
    if (verb === "message") {
      const text = await askForMessage(able);
      if (text === undefined) return;
      for (const agent of able) {
        // Of several, only those that were not told are asked for again.
        verbs.message.mutate({ agent, text, draft: { name: messageDraft([agent]), text } });
      }
      return;
    }
    if (verb === "kill" && !(await confirmKill(able))) return;
    const more = await detailsOf(verb, able);
    if (!more) return;
    const [first, ...others] = able.map((agent) => ({ agent, ...more }));
    if (others.length > 0 && first) many.mutate({ verb, deeds: [first, ...others] });
    else if (first) verbs[verb].mutate(first);
  };
  const erase = async (agent: Agent) => {
    if (!(await confirmDelete(agent))) return false;
    deletion.mutate(agent);
    deletedHere = [...deletedHere, agent.id];
    return true;
  };
  const menuOf = (agent: Agent): MenuItem[] => [
    ...VERBS.map((verb) => ({
      id: verb,
      title: AGENT[verb].title,
      icon: AGENT[verb].icon,
      keys: keysOf(AGENT[verb])[0],
      cli: cliOf(verb, [agent]),
      can: AGENT[verb].can,
      destructive: AGENT[verb].destructive,
      refused: refusedOf(verb, agent),
      run: () => act(verb, [agent]),
    })),
    {
      id: "delete",
      title: DELETE.title,
      icon: DELETE.icon,
      cli: `godel agent delete ${agent.label}`,
      can: DELETE.can,
      destructive: true,
      refused: foreign(agent) ?? whyNotDelete(agent),
      run: () => erase(agent),
    },
  ];
  return { act, erase, menuOf };
}

/** The keys of the agent under the cursor. */
export function useAgentKeys(
  here: Agent | undefined,
  act: ReturnType<typeof useAgentActs>["act"],
): void {
  const refusedOf = useWhyNot();
  for (const verb of VERBS) {
    // biome-ignore lint/correctness/useHookAtTopLevel: the list never changes
    useAction(AGENT[verb], () => here && act(verb, [here]), {
      title: here && `${AGENT[verb].title} ${here.label}`,
      cli: here && cliOf(verb, [here]),
      disabled: here && refusedOf(verb, here),
      when: here !== undefined,
    });
  }
}

/** Whom somebody deleted on this page. */
let deletedHere: readonly string[] = [];

/** How many of them are gone from a list: it keeps still for others, but what one deletes oneself goes at once. */
export function countGone(agents: readonly Agent[]): number {
  return deletedHere.filter((gone) => !agents.some(({ id }) => id === gone)).length;
}

/** Why an agent cannot be deleted now. */
export function whyNotDelete(agent: Agent): string | undefined {
  const isOver = !isAlive(agent) || agent.lifecycleState === "failed";
  return isOver ? undefined : `${agent.label} has not ended; end it first.`;
}

/** What has to be known before; nothing if the person thinks better of it. */
async function detailsOf(
  verb: AgentVerb,
  agents: readonly Agent[],
): Promise<Pick<Deed, "copies" | "restart"> | undefined> {
  if (verb === "fork") {
    const copies = await askForCopies(agents);
    return copies === undefined ? undefined : { copies };
  }
  if (verb !== "restart") return {};
  const restart = await askForRestart(agents);
  return restart && { restart };
}

function confirmKill(agents: readonly Agent[]): Promise<boolean> {
  const [first] = agents;
  const whom = agents.length === 1 && first ? first.label : `${agents.length} agents`;
  const act = `${AGENT.kill.title} ${whom}`;
  const body =
    "The worktree and all commits stay, and the bead is free again. What it has now is kept in a snapshot first, if it is at work.";
  return confirm({ title: `${act}?`, body, act, cli: cliOf("kill", agents) });
}

function confirmDelete({ label }: Agent): Promise<boolean> {
  return confirm({
    title: `Delete ${label}?`,
    body: "Its conversation is gone, but for what snapshots need. Its bead, its worktree and its commits stay.",
    act: "Delete it",
    cli: `godel agent delete ${label}`,
  });
}
