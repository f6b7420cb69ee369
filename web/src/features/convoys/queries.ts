import { queryOptions } from "@tanstack/react-query";
import { ApiError, get, patch, post, remove } from "../../api/client";
import { type Listing, list } from "../../api/list";
import type { Bead, Convoy, ConvoyRun, StartConvoy } from "../../api/types";
import { type Rehearsal, useChange } from "../../change/useChange";
import { onLive } from "../../realtime/rules";
import type { Draft } from "../../ui/useDraft";

const LISTS = ["convoys"] as const;
const WAVES = ["convoy-waves"] as const;
const RUNS = ["convoy-run"] as const;

/** The address of a convoy, or of something of it. */
function path<const Tail extends string = "">(
  { id, projectId }: Pick<Convoy, "id" | "projectId">,
  tail = "" as Tail,
) {
  return `/api/v1/convoys/${encodeURIComponent(id)}${tail}?projectId=${encodeURIComponent(projectId)}` as const;
}

export const convoyQueries = {
  all: (projectId?: string) =>
    queryOptions({
      queryKey: [...LISTS, { projectId }],
      queryFn: () => list("/api/v1/convoys", { filter: { projectId } }),
    }),
  waves: (convoy: Convoy) =>
    queryOptions({
      queryKey: [...WAVES, convoy.id],
      queryFn: () => get(path(convoy, "/waves")),
    }),
  /** How it is run; `null` if it was never started. */
  run: (convoy: Convoy) =>
    queryOptions({
      queryKey: [...RUNS, convoy.id],
      queryFn: async () => {
        try {
          return await get(path(convoy, "/run"));
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

interface NewConvoyOrder {
  name: string;
  beads: string[];
  projectId: string | undefined;
  /** What the name was written as. */
  draft?: Draft;
}

export function useCreateConvoy() {
  return useChange<NewConvoyOrder, Convoy>({
    what: ({ name }) => `Create the convoy “${name}”`,
    send: ({ name, beads, projectId }) =>
      post("/api/v1/convoys", { name, beads, ...(projectId && { projectId }) }),
    draftOf: ({ draft }) => draft,
    settle: () => [LISTS],
    done: ({ name }) => `The convoy “${name}” was created`,
  });
}

/** Shows a change of one convoy in all lists. */
function expectConvoy(cache: Rehearsal, id: string, change: (convoy: Convoy) => Partial<Convoy>) {
  cache.update<Listing<Convoy>>(LISTS, (listing) => ({
    ...listing,
    items: listing.items.map((one) => (one.id === id ? { ...one, ...change(one) } : one)),
  }));
}

/** Which beads get into a convoy, or out of it. */
export interface Membership {
  convoy: Convoy;
  beads: readonly Pick<Bead, "id" | "title">[];
  /** Whether they are put in, or taken out. */
  isIn: boolean;
}

/** Puts beads into a convoy, or takes them out; they stay as they are. */
export function useConvoyBeads() {
  const nameOf = ({ beads }: Membership) =>
    beads.length === 1 && beads[0] ? `“${beads[0].title}”` : `${beads.length} beads`;
  const send = ({ convoy, beads, isIn }: Membership) => {
    const ids = beads.map(({ id }) => id);
    return post(path(convoy, "/beads"), isIn ? { add: ids } : { remove: ids });
  };
  return useChange<Membership, Convoy>({
    what: (order) =>
      order.isIn
        ? `Add ${nameOf(order)} to “${order.convoy.name}”`
        : `Take ${nameOf(order)} out of “${order.convoy.name}”`,
    send,
    expect: (cache, { convoy, beads, isIn }) => {
      const ids = beads.map(({ id }) => id);
      expectConvoy(cache, convoy.id, (one) => {
        const others = one.beads.filter((id) => !ids.includes(id));
        return { beads: isIn ? [...others, ...ids] : others };
      });
    },
    settle: () => [LISTS, WAVES],
    done: (order) =>
      order.isIn
        ? `${nameOf(order)} added to “${order.convoy.name}”`
        : `${nameOf(order)} taken out of “${order.convoy.name}”`,
    undo: (order) => send({ ...order, isIn: !order.isIn }),
  });
}

interface ConvoyWords {
  name: string;
  description: string;
  /** What they were written as. */
  draft?: Draft | undefined;
}

/** Gives a convoy another name, or says what it is about. */
export function useEditConvoy(convoy: Convoy) {
  const old = { name: convoy.name, description: convoy.description ?? "" };
  return useChange<ConvoyWords, Convoy>({
    what: ({ name }) => (name === old.name ? `Describe “${name}”` : `Rename “${old.name}”`),
    send: ({ name, description }) => patch(path(convoy), { name, description }),
    expect: (cache, { name, description }) =>
      expectConvoy(cache, convoy.id, () => ({ name, description })),
    draftOf: ({ draft }) => draft,
    settle: () => [LISTS],
    done: ({ name }) =>
      name === old.name ? `“${name}” says what it is about` : `“${old.name}” is now “${name}”`,
    undo: () => patch(path(convoy), old),
  });
}

/** Lets agents begin, with what was agreed on. */
export function useStartConvoy(convoy: Convoy) {
  return useChange<StartConvoy, ConvoyRun>({
    what: () => `Start “${convoy.name}”`,
    send: (orders) => post(path(convoy, "/start"), orders),
    settle: () => [[...RUNS, convoy.id], ["beads"]],
    done: (_, run) => `“${convoy.name}” runs, with up to ${run.agents} agents`,
    undo: () => post(path(convoy, "/stop")),
  });
}

export function useStopConvoy(convoy: Convoy) {
  return useChange<void, ConvoyRun>({
    what: () => `Stop “${convoy.name}”`,
    send: () => post(path(convoy, "/stop")),
    settle: () => [[...RUNS, convoy.id]],
    done: () => `“${convoy.name}” begins nothing new; agents at work go on`,
  });
}

export function useArchiveConvoy(convoy: Convoy) {
  return useChange<boolean, Convoy>({
    what: (archived) => `${archived ? "Archive" : "Bring back"} “${convoy.name}”`,
    send: (archived) => patch(path(convoy), { archived }),
    expect: (cache, archived) =>
      expectConvoy(cache, convoy.id, () => ({ status: archived ? "archived" : "active" })),
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
