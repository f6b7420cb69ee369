import { keysOf } from "../../actions/keymap";
import type { Agent } from "../../api/types";
import { confirm } from "../../change/confirm";
import type { MenuItem } from "../../ui/Menu";
import { AGENT } from "./actions";
import { type AgentVerb, useAgentVerb } from "./queries";
import { isAlive, viewOf } from "./views";

/** Why a verb makes no sense for an agent now. */
export function whyNot(verb: AgentVerb, agent: Agent): string | undefined {
  if (!isAlive(agent)) return `${agent.label} has ended.`;
  const isPaused = viewOf(agent) === "paused";
  if (verb === "pause" && isPaused) return `${agent.label} is paused already.`;
  if (verb === "resume" && !isPaused) return `${agent.label} is not paused.`;
  return undefined;
}

/** The same on the command line. */
export function cliOf(verb: AgentVerb, agents: readonly Agent[]): string {
  return `godel agent ${verb} ${agents.map((agent) => agent.label).join(" ")}`;
}

/** What can be done to agents: one call for buttons, menus, keys and the palette. */
export function useAgentActs() {
  const verbs = {
    pause: useAgentVerb("pause"),
    resume: useAgentVerb("resume"),
    kill: useAgentVerb("kill"),
  };
  const act = async (verb: AgentVerb, agents: readonly Agent[]) => {
    const able = agents.filter((agent) => whyNot(verb, agent) === undefined);
    if (able.length === 0) return;
    if (verb === "kill" && !(await confirmKill(able))) return;
    for (const agent of able) verbs[verb].mutate(agent);
  };
  const menuOf = (agent: Agent): MenuItem[] =>
    (["pause", "resume", "kill"] as const).map((verb) => ({
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

function confirmKill(agents: readonly Agent[]): Promise<boolean> {
  const [first] = agents;
  const whom = agents.length === 1 && first ? first.label : `${agents.length} agents`;
  return confirm({
    title: `End ${whom}?`,
    body: "The worktree and all commits stay, and the bead is free again.",
    act: `End ${whom}`,
    cli: cliOf("kill", agents),
  });
}
