import type { Agent } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Icon } from "../../ui/Icon";
import { AGENT } from "./actions";
import { type AgentVerb, VERBS } from "./queries";
import { cliOf, type useAgentActs, useWhyNot } from "./useAgentActs";
import { useForeignAgent } from "./useForeignAgent";

interface AgentVerbsProps {
  agents: readonly Agent[];
  act: ReturnType<typeof useAgentActs>["act"];
  side?: "below" | "above";
}

/** Every verb as a button, for one agent or for many; those that fit none say why. */
export function AgentVerbs({ agents, act, side = "below" }: AgentVerbsProps) {
  const whyNone = useWhyNone();
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

/** Tells why a verb can be done to none of them. */
function useWhyNone(): (verb: AgentVerb, agents: readonly Agent[]) => string | undefined {
  const foreign = useForeignAgent();
  const refusedOf = useWhyNot();
  return (verb, agents) => {
    if (verb === "takeover" && agents.length > 1) return "Take over one agent at a time.";
    const reasons = agents.map((agent) => refusedOf(verb, agent));
    if (reasons.some((why) => why === undefined)) return undefined;
    const isAllForeign = agents.every((agent) => foreign(agent) !== undefined);
    if (reasons.length === 1 || isAllForeign) return reasons[0];
    return `${AGENT[verb].title} fits none of them now.`;
  };
}
