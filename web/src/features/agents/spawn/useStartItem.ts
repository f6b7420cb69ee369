import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { serverNow } from "../../../api/clock";
import type { Agent, Bead } from "../../../api/types";
import type { MenuItem } from "../../../ui/Menu";
import { isNotYet } from "../../beads/changes";
import { isHeld } from "../../beads/claims";
import { type BeadGraph, sayReason } from "../../beads/graph";
import { agentsKnown } from "../queries";
import { isAlive } from "../views";
import { STARTING, useStartAgent } from "./started";

/**
 * To start an agent on a bead at once, as a line of its menus. What it depends on is looked up when a menu is opened:
 * agents change so often that a board which followed them would always be drawn.
 */
export function useStartItem(graph: BeadGraph): (bead: Bead) => MenuItem {
  const client = useQueryClient();
  const { mutate } = useStartAgent();
  return (bead) => ({
    id: "start-agent",
    title: "Start an agent on it",
    icon: "agents",
    group: "",
    can: "agent:create:own",
    refused: whyNoStart(bead, graph, client),
    cli: `godel agent spawn --bead ${bead.id}`,
    run: () => mutate(bead),
  });
}

/** Why an agent could not begin with it; the same as the server would say, but before the click. */
function whyNoStart(bead: Bead, graph: BeadGraph, client: QueryClient): string | undefined {
  if (isNotYet(bead)) return "It is still being made.";
  if (bead.status === "done") return "It is done.";
  const reasons = graph.reasonsOf(bead, serverNow());
  if (reasons.length > 0) return reasons.map(sayReason).join(" ");
  if (isBeingStarted(bead, client)) return "An agent is being started on it.";
  const busy = agentOn(bead, agentsKnown(client));
  if (busy) return `${busy.label} works on it.`;
  if (isHeld(bead)) return `${bead.agent ?? "Somebody"} holds it.`;
  // Only a promise keeps others away; a lease that is over does not.
  if (bead.agent && !bead.lease) return `It is assigned to ${bead.agent}.`;
  return undefined;
}

/** A second click before the answer would ask for a second agent. */
function isBeingStarted({ id, projectId }: Bead, client: QueryClient): boolean {
  const all = client.getMutationCache().findAll({ mutationKey: STARTING, status: "pending" });
  return all.some(({ state }) => {
    const bead = state.variables as Bead | undefined;
    return bead?.id === id && bead.projectId === projectId;
  });
}

function agentOn({ id, projectId }: Bead, agents: readonly Agent[]): Agent | undefined {
  return agents.find((one) => one.bead === id && one.projectId === projectId && isAlive(one));
}
