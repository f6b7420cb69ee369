import { queryOptions, useQuery } from "@tanstack/react-query";
import { list } from "../../api/list";
import { onLive } from "../../realtime/rules";
import { useParam } from "../../router/router";

/** All projects of the tenant. */
export const projectsQuery = queryOptions({
  queryKey: ["projects"],
  queryFn: () => list("/api/v1/projects"),
});

onLive({ on: "project:*", invalidate: () => [projectsQuery.queryKey] });

/** The project that the pages are about, if one is chosen; the address holds it. */
export function useProject() {
  const { data } = useQuery(projectsQuery);
  const [id, select] = useParam("project");
  const projects = data?.items ?? [];
  const project = projects.find((one) => one.id === id || one.name === id);
  return { projects, project, projectId: project?.id ?? id, select };
}
