import { useAction } from "../../actions/actions";
import { keysOf } from "../../actions/keymap";
import type { Agent } from "../../api/types";
import { confirm } from "../../change/confirm";
import { navigate } from "../../router/router";
import type { MenuItem } from "../../ui/Menu";
import { AGENT } from "./actions";
import { askForMessage } from "./MessageDialog";
import { type AgentVerb, AT_WORK, useAgentVerb, useKillAgent, VERBS } from "./queries";
import { isAlive, viewOf } from "./views";

/** Why a verb makes no sense for an agent now. */
export function whyNot(verb: AgentVerb, agent: Agent): string | undefined {
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
  const act = async (verb: AgentVerb, agents: readonly Agent[]) => {
    const able = agents.filter((agent) => whyNot(verb, agent) === undefined);
    if (able.length === 0) return;
    if (verb === "takeover") {
      const [only] = able;
      if (only) navigate(`/agents/${encodeURIComponent(only.id)}?tab=terminal&show=shell&take=1`);
      return;
    }
    if (verb === "message") {
      const text = await askForMessage(able);
      for (const agent of text === undefined ? [] : able)
        verbs.message.mutate({ agent, text: text ?? "" });
      return;
    }
    if ((verb === "kill" || verb === "restart") && !(await confirmVerb(verb, able))) return;
    for (const agent of able) verbs[verb].mutate({ agent });
  };
  const menuOf = (agent: Agent): MenuItem[] =>
    VERBS.map((verb) => ({
      id: verb,
      title: AGENT[verb].title,
      icon: AGENT[verb].icon,
      keys: keysOf(AGENT[verb])[0],
      cli: cliOf(verb, [agent]),
      can: AGENT[verb].can,
      destructive: AGENT[verb].destructive,
      refused: whyNot(verb, agent),
      run: () => act(verb, [agent]),
    }));
  return { act, menuOf };
}

/** The keys of the agent under the cursor. */
export function useAgentKeys(
  here: Agent | undefined,
  act: ReturnType<typeof useAgentActs>["act"],
): void {
  for (const verb of VERBS) {
    // biome-ignore lint/correctness/useHookAtTopLevel: the list never changes
    useAction(AGENT[verb], () => here && act(verb, [here]), {
      title: here && `${AGENT[verb].title} ${here.label}`,
      cli: here && cliOf(verb, [here]),
      disabled: here && whyNot(verb, here),
      when: here !== undefined,
    });
  }
}

const WHAT_STAYS = {
  kill: "The worktree and all commits stay, and the bead is free again. What it has now is kept in a snapshot first, if it is at work.",
  restart: "A fresh conversation begins in the same worktree, with a note of the one before.",
} as const;

function confirmVerb(verb: "kill" | "restart", agents: readonly Agent[]): Promise<boolean> {
  const [first] = agents;
  const whom = agents.length === 1 && first ? first.label : `${agents.length} agents`;
  const act = `${AGENT[verb].title} ${whom}`;
  return confirm({ title: `${act}?`, body: WHAT_STAYS[verb], act, cli: cliOf(verb, agents) });
}
