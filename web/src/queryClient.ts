import { MutationCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api/client";
import { sessionQuery } from "./features/session/queries";

/** What the whole page shares: answers of the server, and what a lost session means. */
export function newQueryClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    defaultOptions: {
      queries: {
        // A server on this machine is reachable without any network.
        networkMode: "always",
        // Events keep answers fresh; nothing is asked again only because time went by.
        staleTime: Number.POSITIVE_INFINITY,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        retry: (failures, error) => failures < 2 && !isRefusal(error),
      },
      mutations: { networkMode: "always" },
    },
    mutationCache: new MutationCache({
      onError: (error) => {
        if (!(error instanceof ApiError) || !error.isStaleSession) return;
        // Who is only about to sign in has no session to lose: a wrong key is no end of one.
        const door = client.getQueryData(sessionQuery.queryKey);
        if (!door?.session || door.refusal) return;
        // A change can only raise the doubt; whether the session ended is what `/auth/me` says.
        client.invalidateQueries({ queryKey: sessionQuery.queryKey });
      },
    }),
  });
  return client;
}

/** What the server refused for a reason it refuses again. */
function isRefusal(error: Error): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500;
}
