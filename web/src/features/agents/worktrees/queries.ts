import { queryOptions } from "@tanstack/react-query";
import { get, post, remove } from "../../../api/client";
import type { CleanedWorktrees, RemovedWorktree, Worktree, WorktreeList } from "../../../api/types";
import { useChange } from "../../../change/useChange";
import { onLive } from "../../../realtime/rules";
import { plural } from "../../../ui/format";

const WORKTREES = ["worktrees"] as const;

/** What one must be allowed to remove worktrees. */
export const MAY_REMOVE = "agent:delete:team";

/** Where work is done, in all projects. */
export const worktreesQuery = queryOptions({
  queryKey: WORKTREES,
  queryFn: () => get("/api/v1/worktrees"),
  // People work in them, too, and no event tells of that.
  staleTime: 0,
});

// Each answer is read from git, for all of them; that is not asked for at every line of an agent.
onLive({
  on: ["agent:spawn", "agent:commit", "agent:complete", "agent:delete"],
  everyMs: 5_000,
  invalidate: () => [WORKTREES],
});

/** Removes a worktree after its work was saved. Its line is gone by then, so others are told what was saved. */
export function useRemoveWorktree(onGone: (gone: readonly RemovedWorktree[]) => void) {
  return useChange<Worktree, RemovedWorktree>({
    what: ({ id }) => `Remove the worktree ${id}`,
    send: async ({ id, projectId }) => {
      const gone = await remove(`/api/v1/worktrees/${encodeURIComponent(id)}?project=${projectId}`);
      onGone([gone]);
      return gone;
    },
    done: ({ id }) => `The worktree ${id} is gone`,
    expect: (cache, worktree) =>
      cache.update<WorktreeList>(WORKTREES, (all) => ({
        ...all,
        items: all.items.filter(
          ({ id, projectId }) => id !== worktree.id || projectId !== worktree.projectId,
        ),
      })),
    settle: () => [WORKTREES],
  });
}

/** Asks which worktrees have had their time. */
export function askWhichAreDue(projectId: string | undefined): Promise<CleanedWorktrees> {
  return post("/api/v1/worktrees/cleanup", { dryRun: true, ...(projectId && { projectId }) });
}

/** Removes those that have had their time. */
export function useCleanWorktrees() {
  return useChange<{ projectId: string | undefined }, CleanedWorktrees>({
    what: () => "Clean the worktrees up",
    send: ({ projectId }) =>
      post("/api/v1/worktrees/cleanup", { dryRun: false, ...(projectId && { projectId }) }),
    settle: () => [WORKTREES],
    done: (_, { removed }) => `${plural(removed.length, "worktree")} removed`,
  });
}
