import { queryOptions } from "@tanstack/react-query";
import { get } from "../../api/client";
import type { RepositoryJob } from "../../api/types";
import { onLive } from "../../realtime/rules";

const single = (id: string) => ["repository", id] as const;

/** A repository that the server clones or begins, and how far it is. */
export const repositoryQuery = (id: string) =>
  queryOptions({
    queryKey: single(id),
    queryFn: () => get(`/api/v1/repositories/${encodeURIComponent(id)}`),
    // How far it is, is told by no event, so whoever comes back reads it again.
    staleTime: 0,
  });

onLive({
  on: "repository:*",
  invalidate: ({ payload }) => {
    const { id }: Partial<Pick<RepositoryJob, "id">> =
      typeof payload === "object" && payload !== null ? payload : {};
    return id === undefined ? [] : [single(id)];
  },
});
