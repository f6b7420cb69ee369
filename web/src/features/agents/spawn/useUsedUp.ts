import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { list } from "../../../api/list";
import type { Bead, Budget, Project } from "../../../api/types";
import { beadKey } from "../../beads/queries";
import { useUsedUpFor } from "../../budgets/useUsedUp";
import { useProject } from "../../projects/queries";
import type { SpawnForm } from "./form";

/** Beads to choose from for a new agent. */
export const readyBeads = queryOptions({
  queryKey: ["beads", "to-spawn"],
  queryFn: () => list("/api/v1/beads", { filter: { status: "open" }, most: 100 }),
  staleTime: 30_000,
});

/** Projects in which an agent can work. */
export function useHomes(): readonly Project[] {
  return useProject().projects.filter((project) => project.repository);
}

/** Budgets that would refuse the requests of the agent that is asked for; those of what is not known yet are left out. */
export function useUsedUp(form: SpawnForm): readonly Budget[] {
  const projectId = useProjectOf(form);
  return useUsedUpFor({ projectId, bead: form.bead.trim() || undefined });
}

/** Where the agent would work: as is said, where its bead is, or in the only place there is. */
function useProjectOf({ project, bead }: SpawnForm): string | undefined {
  const client = useQueryClient();
  const ready = useQuery(readyBeads).data?.items;
  const homes = useHomes();
  const id = bead.trim();
  if (project !== "") return project;
  // A bead that is not open was looked at a moment ago if its panel led here.
  const found = ready?.find((one) => one.id === id) ?? client.getQueryData<Bead>(beadKey(id));
  return found?.projectId ?? (homes.length === 1 ? homes[0]?.id : undefined);
}
