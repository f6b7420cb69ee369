import { queryOptions } from "@tanstack/react-query";
import { ApiError, get, patch, post, remove } from "../../api/client";
import { type Listing, list } from "../../api/list";
import type { Convoy, ConvoyRun, ConvoyWaves, StartConvoy } from "../../api/types";
import { useChange } from "../../change/useChange";
import { onLive } from "../../realtime/rules";

const LISTS = ["convoys"] as const;
const WAVES = ["convoy-waves"] as const;
const RUNS = ["convoy-run"] as const;

/** The address of a convoy, or of something of it. */
function path({ id, projectId }: Pick<Convoy, "id" | "projectId">, tail = ""): string {
  return `/api/v1/convoys/${encodeURIComponent(id)}${tail}?projectId=${encodeURIComponent(projectId)}`;
}

export const convoyQueries = {
  all: (projectId?: string) =>
    queryOptions({
      queryKey: [...LISTS, { projectId }],
      queryFn: () => list<Convoy>("/api/v1/convoys", { filter: { projectId } }),
    }),
  waves: (convoy: Convoy) =>
    queryOptions({
      queryKey: [...WAVES, convoy.id],
      queryFn: () => get<ConvoyWaves>(path(convoy, "/waves")),
    }),
  /** How it is run; `null` if it was never started. */
  run: (convoy: Convoy) =>
    queryOptions({
      queryKey: [...RUNS, convoy.id],
      queryFn: async () => {
        try {
          return await get<ConvoyRun>(path(convoy, "/run"));
        } catch (error) {
          if (error instanceof ApiError && error.status === 404) return null;
          throw error;
        }
      },
    }),
};

onLive({ on: "convoy:*", invalidate: () => [LISTS, RUNS, WAVES] });
onLive({ on: ["agent:state", "agent:spawn"], invalidate: () => [RUNS], everyMs: 2_000 });
onLive({ on: ["bead:moved", "bead:linked", "bead:unlinked"], invalidate: () => [WAVES] });

export function useCreateConvoy() {
  return useChange<{ name: string; beads: string[]; projectId: string | undefined }, Convoy>({
    what: ({ name }) => `Create the convoy “${name}”`,
    send: ({ name, beads, projectId }) =>
      post<Convoy>("/api/v1/convoys", { name, beads, ...(projectId && { projectId }) }),
    settle: () => [LISTS],
    done: ({ name }) => `The convoy “${name}” was created`,
  });
}

/** Lets agents begin, with what was agreed on. */
export function useStartConvoy(convoy: Convoy) {
  return useChange<StartConvoy, ConvoyRun>({
    what: () => `Start “${convoy.name}”`,
    send: (orders) => post<ConvoyRun>(path(convoy, "/start"), orders),
    settle: () => [[...RUNS, convoy.id], ["beads"]],
    done: (_, run) => `“${convoy.name}” runs, with up to ${run.agents} agents`,
    undo: () => post(path(convoy, "/stop")),
  });
}

export function useStopConvoy(convoy: Convoy) {
  return useChange<void, ConvoyRun>({
    what: () => `Stop “${convoy.name}”`,
    send: () => post<ConvoyRun>(path(convoy, "/stop")),
    settle: () => [[...RUNS, convoy.id]],
    done: () => `“${convoy.name}” begins nothing new; agents at work go on`,
  });
}

export function useArchiveConvoy(convoy: Convoy) {
  return useChange<boolean, Convoy>({
    what: (archived) => `${archived ? "Archive" : "Bring back"} “${convoy.name}”`,
    send: (archived) => patch<Convoy>(path(convoy), { archived }),
    expect: (cache, archived) =>
      cache.update<Listing<Convoy>>(LISTS, (listing) => ({
        ...listing,
        items: listing.items.map((one) =>
          one.id === convoy.id ? { ...one, status: archived ? "archived" : "active" } : one,
        ),
      })),
    settle: () => [LISTS],
    undo: (archived) => patch(path(convoy), { archived: !archived }),
    done: (archived) => `“${convoy.name}” is ${archived ? "archived" : "back"}`,
  });
}

export function useDeleteConvoy(convoy: Convoy) {
  return useChange<void, void>({
    what: () => `Delete “${convoy.name}”`,
    send: () => remove(path(convoy)),
    settle: () => [LISTS],
    done: () => `“${convoy.name}” was deleted; its beads stay`,
  });
}
