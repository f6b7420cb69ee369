import type { Agent } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Icon } from "../../ui/Icon";
import { AGENT } from "./actions";
import { type AgentVerb, VERBS } from "./queries";
import { cliOf, type useAgentActs, whyNot } from "./useAgentActs";

interface AgentVerbsProps {
  agents: readonly Agent[];
  act: ReturnType<typeof useAgentActs>["act"];
  side?: "below" | "above";
}

/** Every verb as a button, for one agent or for many; those that fit none say why. */
export function AgentVerbs({ agents, act, side = "below" }: AgentVerbsProps) {
  return VERBS.map((verb) => {
    const { title, icon, can, destructive } = AGENT[verb];
    return (
      <Guarded
        key={verb}
        size="small"
        side={side}
        align={verb === "kill" || verb === "fork" ? "end" : undefined}
        look={verb === "kill" ? "bad" : "line"}
        can={can}
        destructive={destructive}
        refused={whyNone(verb, agents)}
        cli={cliOf(verb, agents)}
        onClick={() => act(verb, agents)}
      >
        {icon && <Icon name={icon} size={14} />}
        {title}
      </Guarded>
    );
  });
}

/** Why a verb fits none of them. */
function whyNone(verb: AgentVerb, agents: readonly Agent[]): string | undefined {
  if (verb === "takeover" && agents.length > 1) return "Take over one agent at a time.";
  const reasons = agents.map((agent) => whyNot(verb, agent));
  if (reasons.some((why) => why === undefined)) return undefined;
  return reasons.length === 1 ? reasons[0] : `${AGENT[verb].title} fits none of them now.`;
}
