import { queryOptions } from "@tanstack/react-query";
import { get, post, remove } from "../../api/client";
import { serverTimestamp } from "../../api/clock";
import type { Landing, LandingLine, MoveLanding } from "../../api/types";
import { useChange } from "../../change/useChange";
import { onLive } from "../../realtime/rules";
import { shortId } from "../../ui/format";
import { BEAD_LISTS, beadKey } from "../beads/queries";
import { moved } from "./order";

const LANDINGS = ["landings"] as const;

interface Lines {
  items: LandingLine[];
}

export const landingQueries = {
  /** The queue of a project, or of each that has something in it. */
  lines: (projectId: string | undefined, past: number) =>
    queryOptions({
      queryKey: [...LANDINGS, { projectId, past }],
      queryFn: () => {
        const fields = new URLSearchParams({ past: String(past) });
        if (projectId) fields.set("projectId", projectId);
        return get(`/api/v1/landings?${fields}`);
      },
    }),
};

onLive({ on: "landing:*", invalidate: () => [LANDINGS] });

const settle = () => [LANDINGS, ["reviews"]];
const landPath = ({ bead, projectId }: Landing) =>
  `/api/v1/beads/${encodeURIComponent(bead)}/land?waitSeconds=0&projectId=${projectId}` as const;
const entryPath = ({ bead, projectId }: Landing) =>
  `/api/v1/landings/${encodeURIComponent(bead)}?projectId=${projectId}` as const;

function expectStage(lines: Lines, entry: Landing, special: Partial<Landing>): Lines {
  const change = (one: Landing) => (one.bead === entry.bead ? { ...one, ...special } : one);
  return {
    items: lines.items.map((line) =>
      line.projectId === entry.projectId ? { ...line, landings: line.landings.map(change) } : line,
    ),
  };
}

/** Takes a bead out of the queue; it can go in again. */
export function useRemove() {
  return useChange<Landing, Landing>({
    what: ({ bead }) => `Remove ${bead}`,
    send: (entry) => remove(entryPath(entry)),
    expect: (cache, entry) =>
      cache.update<Lines>(LANDINGS, (lines) =>
        expectStage(lines, entry, { stage: "removed", position: null, etaSeconds: null }),
      ),
    settle,
    done: ({ bead }) => `${bead} is out of the queue`,
    undo: (entry) => post(landPath(entry)),
  });
}

interface Move {
  entry: Landing;
  to: MoveLanding;
  /** The place that it had. */
  from: MoveLanding;
}

const movePath = ({ bead, projectId }: Landing) =>
  `/api/v1/landings/${encodeURIComponent(bead)}/move?projectId=${projectId}` as const;

/** Gives what waits another place. */
export function useMove() {
  return useChange<Move, Landing>({
    what: ({ entry }) => `Move ${entry.bead}`,
    send: ({ entry, to }) => post(movePath(entry), to),
    expect: (cache, { entry, to }) =>
      cache.update<Lines>(LANDINGS, ({ items }) => ({
        items: items.map((line) =>
          line.projectId === entry.projectId ? moved(line, entry.bead, to) : line,
        ),
      })),
    settle,
    done: ({ entry }) => `${entry.bead} has another place`,
    undo: ({ entry, from }) => post(movePath(entry), from),
  });
}

/** Tries again what did not land. */
export function useRetry() {
  return useChange<Landing, Landing>({
    what: ({ bead }) => `Retry ${bead}`,
    send: (entry) => post(landPath(entry)),
    expect: (cache, entry) =>
      cache.update<Lines>(LANDINGS, (lines) =>
        expectStage(lines, entry, { stage: "waiting", why: null, trouble: null }),
      ),
    settle,
    done: ({ bead }) => `${bead} is in the queue again`,
  });
}

/** The gates are run without what is taken back, and somebody waits for them. */
const REVERT_MS = 300_000;

/** Takes back what has landed, by a commit. */
export function useRevert() {
  return useChange<Pick<Landing, "bead" | "projectId">, { commit: string }>({
    what: ({ bead }) => `Revert ${bead}`,
    send: ({ bead, projectId }) =>
      post(
        `/api/v1/beads/${encodeURIComponent(bead)}/revert?projectId=${projectId}`,
        undefined,
        REVERT_MS,
      ),
    settle: ({ bead }) => [...settle(), BEAD_LISTS, beadKey(bead)],
    done: ({ bead }, { commit }) => `${bead} was taken back by ${shortId(commit)}`,
  });
}

/** Lets the queue of a project stand still, or go on. */
export function usePause(by: string) {
  return useChange<{ projectId: string; pause: boolean; reason?: string }, unknown>({
    what: ({ pause }) => (pause ? "Pause the queue" : "Resume the queue"),
    send: ({ projectId, pause, reason }) =>
      post(`/api/v1/landings/${pause ? "pause" : "resume"}`, {
        projectId,
        ...(reason && { reason }),
      }),
    expect: (cache, { projectId, pause, reason }) =>
      cache.update<Lines>(LANDINGS, (lines) => ({
        items: lines.items.map((line) =>
          line.projectId === projectId
            ? {
                ...line,
                paused: pause ? { by, at: serverTimestamp(), reason: reason ?? null } : null,
              }
            : line,
        ),
      })),
    settle,
    done: ({ pause }) => (pause ? "The queue stands still" : "The queue goes on"),
    undo: ({ projectId, pause }) =>
      post(`/api/v1/landings/${pause ? "resume" : "pause"}`, { projectId }),
  });
}
