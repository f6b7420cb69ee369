import { queryOptions } from "@tanstack/react-query";
import { ApiError, get, post, remove } from "../../../api/client";
import type { Attempt, AttemptDiff, Attempts, Bead } from "../../../api/types";
import { useChange } from "../../../change/useChange";
import { onLive } from "../../../realtime/rules";
import { BEAD_LISTS, beadKey, beadPath } from "../queries";

const ATTEMPTS = ["attempts"] as const;
/** Agents are stopped and branches moved before it is answered. */
const DECIDE_MS = 60_000;

/** A bead, as far as attempts at it need to know it. */
export type TriedBead = Pick<Bead, "id" | "projectId">;

export const attemptQueries = {
  /** The last attempts at a bead; nothing if it was never tried several ways. */
  of: (bead: Pick<Bead, "id"> & Partial<TriedBead>) =>
    queryOptions({
      queryKey: [...ATTEMPTS, bead.id],
      queryFn: async (): Promise<Attempts | null> => {
        try {
          return await get(beadPath(bead, "/attempts"));
        } catch (error) {
          if (error instanceof ApiError && error.status === 404) return null;
          throw error;
        }
      },
    }),
  /** What an attempt changed, or how another one differs from it. */
  diff: (bead: TriedBead, number: number, against: number | undefined) =>
    queryOptions({
      queryKey: [...ATTEMPTS, bead.id, "diff", number, against ?? "base"],
      queryFn: () => {
        const fields = against === undefined ? {} : { against: String(against) };
        return get(beadPath(bead, `/attempts/${number}/diff`, fields));
      },
    }),
};

onLive({
  on: ["attempt:*", "agent:*"],
  invalidate: () => [ATTEMPTS],
});

const settle = ({ id }: TriedBead) => [[...ATTEMPTS, id], beadKey(id), BEAD_LISTS];

/** Makes one attempt the work of the bead; the others are put away. */
export function usePickAttempt(bead: TriedBead) {
  return useChange<{ attempt: Attempt; force: boolean }, Attempts>({
    what: ({ attempt }) => `Pick attempt ${attempt.number}`,
    send: ({ attempt, force }) =>
      post(beadPath(bead, `/attempts/${attempt.number}/pick`), { force }, DECIDE_MS),
    expect: (cache, { attempt }) =>
      cache.update<Attempts | null | AttemptDiff>([...ATTEMPTS, bead.id], (found) =>
        found && "attempts" in found
          ? { ...found, state: "picking", picked: attempt.number }
          : found,
      ),
    settle: () => settle(bead),
    done: ({ attempt }) => `Attempt ${attempt.number} is the work of ${bead.id} now`,
  });
}

/** Puts all attempts away; the bead is open again. */
export function useDropAttempts(bead: TriedBead) {
  return useChange<void, Attempts>({
    what: () => `Drop the attempts at ${bead.id}`,
    send: () => remove(beadPath(bead, "/attempts")),
    expect: (cache) =>
      cache.update<Attempts | null | AttemptDiff>([...ATTEMPTS, bead.id], (found) =>
        found && "attempts" in found ? { ...found, state: "dropping" } : found,
      ),
    settle: () => settle(bead),
    done: () => `The attempts at ${bead.id} are put away`,
  });
}
