import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { get, post, remove } from "../../api/client";
import type {
  Convoy,
  ConvoyRun,
  ConvoyWaves,
  Intent,
  NewIntent,
  StartIntent,
} from "../../api/types";
import { onLive } from "../../realtime/rules";

const single = (id: string) => ["intent", id] as const;
const path = (id: string) => `/api/v1/intents/${encodeURIComponent(id)}` as const;
/** A model that plans takes its time. */
const PLANNING_MS = 180_000;
const FOLLOWED = ["followed-convoy"] as const;

/** A convoy that is run: what it is, how it stands, and its beads in waves. */
export interface Followed {
  convoy: Convoy;
  run: ConvoyRun;
  waves: ConvoyWaves;
}

export const intentQueries = {
  one: (id: string) => queryOptions({ queryKey: single(id), queryFn: () => get(path(id)) }),
  followed: (id: string, projectId: string) =>
    queryOptions({
      queryKey: [...FOLLOWED, id],
      queryFn: async (): Promise<Followed> => {
        const at = `/api/v1/convoys/${encodeURIComponent(id)}` as const;
        const of = `?${new URLSearchParams({ projectId })}` as const;
        const [convoy, run, waves] = await Promise.all([
          get(`${at}${of}`),
          get(`${at}/run${of}`),
          get(`${at}/waves${of}`),
        ]);
        return { convoy, run, waves };
      },
    }),
};

onLive({
  on: "intent:*",
  invalidate: ({ metadata }) => (metadata.intentId ? [single(metadata.intentId)] : []),
});
onLive({
  on: ["bead:*", "convoy:*", "agent:spawn", "agent:state", "agent:complete", "agent:kill"],
  invalidate: () => [FOLLOWED],
});

/** What can be done to an intent; each answers with how it stands then. */
export function useIntentSteps() {
  const client = useQueryClient();
  const keep = (intent: Intent) => client.setQueryData(single(intent.id), intent);
  return {
    /** Nothing runs before it is started. */
    plan: useMutation({
      mutationFn: (wish: NewIntent) => post("/api/v1/intents", wish, PLANNING_MS),
      onSuccess: keep,
    }),
    answer: useMutation({
      mutationFn: ({ id, answer }: { id: string; answer: string }) =>
        post(`${path(id)}/answer`, { answer }, PLANNING_MS),
      onSuccess: keep,
    }),
    start: useMutation({
      mutationFn: ({ id, ...how }: StartIntent & { id: string }) => post(`${path(id)}/start`, how),
      onSuccess: keep,
    }),
    cancel: useMutation({ mutationFn: (id: string) => remove(path(id)), onSuccess: keep }),
  };
}
