import type { UseMutationResult } from "@tanstack/react-query";
import { patch, post } from "../../api/client";
import { serverTimestamp } from "../../api/clock";
import type { Listing } from "../../api/list";
import type { Bead, BeadPatch, NewBead } from "../../api/types";
import { doneOf, type Several, several, tellRefused } from "../../change/several";
import { type Rehearsal, useChange } from "../../change/useChange";
import { useSession } from "../../roles/session";
import { type Draft, forgetDraft } from "../../ui/useDraft";
import { proofOf } from "./claims";
import { saidBefore, shownAfter } from "./fields";
import { type BeadStatus, STATUS_LOOKS } from "./looks";
import { BEAD_LISTS, beadKey, beadPath } from "./queries";

/** Shows a change of beads everywhere at once. */
export function expectBeads(
  cache: Rehearsal,
  beads: readonly Bead[],
  change: (bead: Bead) => Partial<Bead>,
): void {
  const ids = new Set(beads.map(({ id }) => id));
  cache.update<Listing<Bead>>(BEAD_LISTS, (listing) => ({
    ...listing,
    items: listing.items.map((one) => (ids.has(one.id) ? { ...one, ...change(one) } : one)),
  }));
  for (const { id } of beads) {
    cache.update<Bead>(beadKey(id), (one) => ({ ...one, ...change(one) }));
  }
}

/** What is asked again after a change of beads. */
export const settleOf = (beads: readonly Bead[]) => [
  BEAD_LISTS,
  ...beads.map(({ id }) => beadKey(id)),
];

/** One bead by its title, several by their number. */
export const nameOf = (beads: readonly Bead[]) =>
  beads.length === 1 && beads[0] ? `“${beads[0].title}”` : `${beads.length} beads`;

/** One after the other: each is a commit in one repository. */
export async function each<T, R>(
  things: readonly T[],
  work: (thing: T) => Promise<R>,
): Promise<R[]> {
  const done: R[] = [];
  for (const thing of things) done.push(await work(thing));
  return done;
}

export interface Move {
  beads: readonly Bead[];
  /** Where they go; each stays where it is if that is its status. */
  status: BeadStatus;
  /** The new place of each in the manual order. */
  ranks?: ReadonlyMap<string, string>;
  /** How it is closed, with the sentence for it. */
  resolution?: string;
  reason?: string;
  /** What the sentence was written as. */
  draft?: Draft | undefined;
}

type Beads = Several<Bead, Bead>;

/** Moves beads to a column, and to a place in it; what the server refuses goes back. */
export function useMoveBeads() {
  const what = (beads: readonly Bead[], status: BeadStatus) =>
    `Move ${nameOf(beads)} to ${STATUS_LOOKS[status].title}`;
  const change: UseMutationResult<Beads, Error, Move, Rehearsal> = useChange<Move, Beads>({
    what: ({ beads, status }) => what(beads, status),
    send: ({ beads, status, ranks, resolution, reason }) =>
      several(beads, async (bead) => {
        let moved: Bead = bead;
        if (bead.status !== status) {
          const order = resolution === undefined ? { status } : { resolution, reason };
          moved = await post(beadPath(bead, "/move"), { ...order, ...proofOf(bead) });
        }
        const rank = ranks?.get(bead.id);
        if (rank === undefined || rank === bead.rank) return moved;
        return patch(beadPath(bead), { rank });
      }),
    expect: (cache, { beads, status, ranks, resolution }) =>
      expectBeads(cache, beads, (bead) => ({
        status,
        ...(resolution !== undefined && { resolution: { kind: resolution } }),
        ...(ranks?.has(bead.id) && { rank: ranks.get(bead.id) ?? null }),
      })),
    draftOf: ({ draft }) => draft,
    settle: ({ beads }) => settleOf(beads),
    done: (move, outcome) => {
      const { status } = move;
      tellRefused(
        (beads) => what(beads, status),
        outcome,
        (beads) => change.mutate({ ...move, beads }),
      );
      return `${nameOf(doneOf(outcome))} moved to ${STATUS_LOOKS[status].title}`;
    },
    undo: ({ status, ranks }, outcome) =>
      each(doneOf(outcome), async (bead) => {
        if (ranks?.has(bead.id)) await patch(beadPath(bead), { rank: bead.rank ?? "" });
        if (bead.status === status) return;
        // Who moved it to work got it as its own; nobody's again is what it was.
        const wasFree = bead.status === "open" && !bead.agent && status === "in-progress";
        if (wasFree) await post(beadPath(bead, "/release"), {});
        else await post(beadPath(bead, "/move"), { status: bead.status, ...proofOf(bead) });
      }),
  });
  return change;
}

export interface Edit {
  beads: readonly Bead[];
  /** The same for all of them, or for each its own. */
  change: BeadPatch | ((bead: Bead) => BeadPatch);
  /** What it is for messages: `the priority`. */
  what: string;
  /** What is told when it was done; that it was changed unless given. */
  done?: string;
  /** What the change was written as. */
  draft?: Draft | undefined;
}

/** Changes what beads say. */
export function useEditBeads() {
  const what = (beads: readonly Bead[], field: string) => `Change ${field} of ${nameOf(beads)}`;
  const mutation: UseMutationResult<Beads, Error, Edit, Rehearsal> = useChange<Edit, Beads>({
    what: ({ beads, what: field }) => what(beads, field),
    send: ({ beads, change }) =>
      several(beads, (bead) => patch(beadPath(bead), changeOf(change, bead))),
    expect: (cache, { beads, change }) =>
      expectBeads(cache, beads, (bead) => shownAfter(bead, changeOf(change, bead))),
    draftOf: ({ draft }) => draft,
    settle: ({ beads }) => settleOf(beads),
    done: (edit, outcome) => {
      tellRefused(
        (beads) => what(beads, edit.what),
        outcome,
        (beads) => mutation.mutate({ ...edit, beads }),
      );
      return outcome.refused.length > 0 ? what(doneOf(outcome), edit.what) : edit.done;
    },
    undo: ({ change }, outcome) =>
      each(doneOf(outcome), (bead) =>
        patch(beadPath(bead), saidBefore(bead, changeOf(change, bead))),
      ),
  });
  return mutation;
}

const changeOf = (change: Edit["change"], bead: Bead): BeadPatch =>
  typeof change === "function" ? change(bead) : change;

interface Assignment {
  beads: readonly Bead[];
  agent: string | undefined;
}

/** Gives beads to an agent, or takes them from whom they have. */
export function useAssignBeads() {
  const what = (beads: readonly Bead[], agent: string | undefined) =>
    agent === undefined ? `Give back ${nameOf(beads)}` : `Assign ${nameOf(beads)} to ${agent}`;
  const change: UseMutationResult<Beads, Error, Assignment, Rehearsal> = useChange<
    Assignment,
    Beads
  >({
    what: ({ beads, agent }) => what(beads, agent),
    send: ({ beads, agent }) => several(beads, (bead) => assign(bead, agent)),
    expect: (cache, { beads, agent }) =>
      expectBeads(cache, beads, () => ({ agent: agent ?? null })),
    settle: ({ beads }) => settleOf(beads),
    done: ({ agent }, outcome) => {
      tellRefused(
        (beads) => what(beads, agent),
        outcome,
        (beads) => change.mutate({ beads, agent }),
      );
      return outcome.refused.length > 0 ? what(doneOf(outcome), agent) : undefined;
    },
    undo: (_, outcome) => each(doneOf(outcome), (bead) => assign(bead, bead.agent ?? undefined)),
  });
  return change;
}

function assign(bead: Bead, agentId: string | undefined): Promise<Bead> {
  if (agentId === undefined) return post(beadPath(bead, "/release"), proofOf(bead));
  return post(beadPath(bead, "/assign"), { agentId });
}

/** Says something about a bead. */
export function useComment(bead: Bead) {
  const by = useSession().actor.replace(/^user:/, "");
  return useChange<string, Bead>({
    what: () => `Comment on “${bead.title}”`,
    send: (text) => post(beadPath(bead, "/comments"), { text }),
    expect: (cache, text) =>
      expectBeads(cache, [bead], ({ comments }) => {
        const at = serverTimestamp();
        return { comments: [...comments, { id: `${at} on its way`, by, at, text }] };
      }),
    settle: () => settleOf([bead]),
  });
}

export interface Creation {
  /** One bead each. */
  titles: readonly string[];
  project: string | undefined;
  fields?: Partial<NewBead>;
  status?: BeadStatus;
  agent?: string | undefined;
  /** The convoy that they join. */
  convoy?: { id: string; projectId: string } | undefined;
  /** What it was written as; it is kept until the beads are made, also by a second try. */
  draft?: Draft;
}

/** Makes beads, one for each title, in order. */
export function useCreateBeads() {
  return useChange<Creation, Bead[]>({
    what: ({ titles }) =>
      titles.length === 1 ? `Create “${titles[0]}”` : `Create ${titles.length} beads`,
    send: async ({ titles, project, fields, status, agent, convoy }) => {
      const projectId = project ?? convoy?.projectId;
      const made = await each(titles, async (title) => {
        let bead = await post("/api/v1/beads", {
          ...fields,
          title,
          ...(projectId !== undefined && { projectId }),
        });
        if (agent !== undefined) bead = await assign(bead, agent);
        if (status !== undefined && status !== bead.status) {
          bead = await post(beadPath(bead, "/move"), { status });
        }
        return bead;
      });
      if (convoy) {
        const path = `/api/v1/convoys/${convoy.id}/beads?projectId=${convoy.projectId}` as const;
        await post(path, { add: made.map(({ id }) => id) });
      }
      return made;
    },
    expect: (cache, creation) =>
      cache.update<Listing<Bead>>(BEAD_LISTS, (listing) => ({
        ...listing,
        items: [
          ...listing.items,
          ...creation.titles.map((title, at) => guess(title, at, creation)),
        ],
      })),
    settle: () => [BEAD_LISTS, ["convoys"]],
    done: ({ draft }, made) => {
      if (draft) forgetDraft(draft);
      return made.length > 1 ? `${made.length} beads created` : undefined;
    },
  });
}

/** A bead that the server has not made yet has such an id. */
const NOT_YET = "new ";

export function isNotYet(bead: Pick<Bead, "id">): boolean {
  return bead.id.startsWith(NOT_YET);
}

function guess(title: string, at: number, { project, fields, status, agent }: Creation): Bead {
  const now = serverTimestamp();
  return {
    id: `${NOT_YET}${now} ${at}`,
    projectId: project ?? "",
    type: fields?.type ?? "task",
    title,
    status: status ?? "open",
    priority: fields?.priority ?? "medium",
    agent: agent ?? null,
    commits: [],
    labels: fields?.labels ?? [],
    links: [],
    comments: [],
    metadata: {},
    createdAt: now,
    updatedAt: now,
  };
}
