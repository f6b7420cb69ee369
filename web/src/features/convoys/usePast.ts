import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { agentQueries } from "../agents/queries";
import type { BeadGraph } from "../beads/graph";
import { landingQueries } from "../landing/queries";
import type { Lane } from "./board";
import { landedAtOf, Past, worksOf } from "./past";

/** So many landings are looked at, the newest first; of older beads it is known when their agents ended. */
const LANDINGS = 100;

/** What finished beads took; `undefined` while that is read, `null` if it cannot be. */
export function usePast(
  projectId: string | undefined,
  graph: BeadGraph,
  lanes: readonly Lane[],
): Past | null | undefined {
  const enabled = lanes.some(({ convoy }) => convoy !== undefined);
  const works = useQuery({ ...agentQueries.all(), select: worksOf, enabled });
  const lines = landingQueries.lines(projectId, LANDINGS);
  const landed = useQuery({ ...lines, select: landedAtOf, enabled });
  const { data } = works;
  const landedAt = landed.data;
  const isRead = landedAt !== undefined || landed.isError;
  const past = useMemo(
    () => (data && isRead ? new Past(graph.byId, { works: data, landedAt }) : undefined),
    [graph, data, isRead, landedAt],
  );
  return past ?? (works.isError ? null : undefined);
}
