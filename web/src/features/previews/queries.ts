import { type QueryClient, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiError, get, post, remove } from "../../api/client";
import type { GodelEvent, Preview } from "../../api/types";
import { tellRefusal, useChange } from "../../change/useChange";
import { onLive } from "../../realtime/rules";
import type { Target } from "./target";

const PREVIEWS = ["previews"] as const;
const single = (id: string) => ["preview", id] as const;
const path = (id: string) => `/api/v1/previews/${encodeURIComponent(id)}` as const;
/** A sandbox and a worktree may have to be made before it is answered. */
const START_MS = 60_000;

export const previewQueries = {
  /** All that run, and those that ended a while ago, the newest first: there are never many. */
  all: queryOptions({
    queryKey: PREVIEWS,
    queryFn: async () => (await get("/api/v1/previews")).items,
  }),
  /** One with what it printed. */
  one: (id: string) =>
    queryOptions({
      queryKey: single(id),
      queryFn: () => get(path(id)),
      // What a command prints is told by no event, so whoever looks again reads it again.
      staleTime: 0,
    }),
};

onLive({
  // Of what is only asked for, such as a stop, there is nothing to show yet.
  on: ["preview:started", "preview:ready", "preview:ended"],
  patch: (client, events) => {
    for (const event of events) {
      const { id, state } = toldBy(event);
      client.setQueryData(previewQueries.all.queryKey, (all) =>
        all?.map((one) => (one.id === id && state ? { ...one, state } : one)),
      );
    }
  },
  invalidate: (event) => {
    const { id } = toldBy(event);
    return id === undefined ? [PREVIEWS] : [PREVIEWS, single(id)];
  },
});

/** What an event says about a preview. */
function toldBy({ payload }: GodelEvent): Partial<Pick<Preview, "id" | "state">> {
  return typeof payload === "object" && payload !== null ? payload : {};
}

/** Puts a preview where it is shown; events may have told more of it by now. */
function keep(client: QueryClient, preview: Preview): void {
  client.setQueryData(single(preview.id), preview);
  client.setQueryData(
    previewQueries.all.queryKey,
    (all) => all && [preview, ...all.filter(({ id }) => id !== preview.id)],
  );
  client.invalidateQueries({ queryKey: PREVIEWS });
}

/** Whether the server does not know how the app is started; the answer is a field for it. */
export function asksForCommand(error: Error | null): error is ApiError {
  return error instanceof ApiError && error.status === 400;
}

/** Runs the app of an agent or a bead. */
export function useStartPreview(target: Target) {
  const client = useQueryClient();
  const mutation = useMutation<Preview, Error, string>({
    mutationFn: (command) =>
      post(
        "/api/v1/previews",
        { ...target.asked, ...(command.trim() !== "" && { command: command.trim() }) },
        START_MS,
      ),
    onSuccess: (preview) => keep(client, preview),
    onError: (error, command) => {
      if (asksForCommand(error)) return;
      tellRefusal(`Preview ${target.name}`, error, () => mutation.mutate(command));
    },
  });
  return mutation;
}

/** Ends a preview; its files stay as they are. */
export function useStopPreview() {
  return useChange<Preview, Preview>({
    what: () => "Stop the preview",
    send: ({ id }) => remove(path(id)),
    expect: (cache, { id }) =>
      cache.update<Preview[]>(PREVIEWS, (all) =>
        all.map((one) => (one.id === id ? { ...one, state: "ended" } : one)),
      ),
    settle: ({ id }) => [PREVIEWS, single(id)],
  });
}

/** Reads again what a preview prints, and how it stands. */
export function useReadAgain() {
  const client = useQueryClient();
  return ({ id }: Preview) => {
    client.invalidateQueries({ queryKey: single(id) });
    client.invalidateQueries({ queryKey: PREVIEWS });
  };
}
