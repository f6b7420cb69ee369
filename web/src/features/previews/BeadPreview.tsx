import { useQuery } from "@tanstack/react-query";
import type { Agent } from "../../api/types";
import { useCan, useForeignRefusal, useSession } from "../../roles/session";
import { isAlive } from "../agents/views";
import { attemptQueries } from "../beads/attempts/queries";
import { beadQueries } from "../beads/queries";
import { PreviewPanel } from "./PreviewPanel";
import { previewQueries } from "./queries";
import { ofBead, type ShownBead } from "./target";

interface BeadPreviewProps {
  bead: ShownBead;
  isIdle?: boolean;
}

/** The app with what was made of a bead. */
export function BeadPreview({ bead, isIdle = false }: BeadPreviewProps) {
  const foreign = useForeignWork(bead.id);
  const target = ofBead(bead, useAttempts(bead));
  return <PreviewPanel target={target} foreign={foreign} isIdle={isIdle} />;
}

/** The agents of attempts at a bead; asked for only if something of it is shown. */
function useAttempts(bead: ShownBead): string[] | undefined {
  const { data } = useQuery(previewQueries.all);
  const isShown = data?.some(ofBead(bead).isOf) ?? false;
  const tried = useQuery({ ...attemptQueries.of(bead), enabled: isShown });
  return tried.data?.attempts.map(({ agentId }) => agentId);
}

/** Why the work on a bead is not to be run: some may run only what their own agents made, or no agent at all. */
function useForeignWork(bead: string): string | undefined {
  const { userId } = useSession();
  const isAll = useCan("agent:execute:team");
  const refusedOf = useForeignRefusal("agent:execute:team");
  const { data } = useQuery({ ...beadQueries.agents(bead), enabled: !isAll });
  if (isAll) return undefined;
  if (!data) return "It is not known yet whose work this is.";
  const agent = workerOf(data.items);
  return agent && refusedOf({ name: agent.label, isOwn: agent.userId === userId });
}

/** Whose files are shown: the agent's that works on it, else the last one's. */
export function workerOf(agents: readonly Agent[]): Agent | undefined {
  const newest = agents.toSorted((a, b) => Date.parse(b.spawnedAt) - Date.parse(a.spawnedAt));
  return newest.find(isAlive) ?? newest[0];
}
