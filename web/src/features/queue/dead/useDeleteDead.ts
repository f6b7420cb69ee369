import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiError, remove } from "../../../api/client";
import type { Task } from "../../../api/types";
import { confirm } from "../../../change/confirm";
import { toast } from "../../../change/toasts";
import { tellRefusal } from "../../../change/useChange";
import type { Need } from "../../../roles/permissions";
import { currentPlace, setParams } from "../../../router/router";
import { plural } from "../../../ui/format";
import { TASK_LISTS } from "../queries";
import { type DeadFilter, deadFlags, isFiltered, readAllDead } from "./queries";

/** What one must be allowed to remove a dead letter. */
export const CAN_DELETE: Need = "task:delete:team";

/** Those that are named, or all that a filter lets through. */
type Which = { tasks: readonly Task[] } | { filter: DeadFilter };

/** What became of them; a run that is not over keeps its own. */
interface Outcome {
  deleted: number;
  kept: number;
}

/** Removes dead letters for good, after a question; tells of which it was tried. */
export function useDeleteDead(onActed?: (ids: readonly string[]) => void) {
  const client = useQueryClient();
  const mutation = useMutation({
    mutationFn: async (which: Which) => {
      const tasks = "tasks" in which ? which.tasks : await readAllDead(which.filter);
      const ids = tasks.map(({ id }) => id);
      onActed?.(ids);
      // What is gone is not looked at any more.
      const peeked = new URLSearchParams(currentPlace().search).get("task");
      if (peeked !== null && ids.includes(peeked)) setParams({ task: undefined });
      return deleteEach(ids);
    },
    onSuccess: (outcome) => toast(deletedToast(outcome)),
    onError: (error, which) =>
      tellRefusal("Delete dead letters", error, () => mutation.mutate(which)),
    // Some may be gone although a later one was refused.
    onSettled: () => {
      for (const queryKey of TASK_LISTS) client.invalidateQueries({ queryKey });
    },
  });
  return async (which: Which) => {
    if (await confirm(deleteQuestion(which))) mutation.mutate(which);
  };
}

/** What is asked before; how many a filter finds may change before the answer. */
export function deleteQuestion(which: Which) {
  const one = "tasks" in which && which.tasks.length === 1 ? which.tasks[0] : undefined;
  return {
    title: `Delete ${one ? one.title : questioned(which)}?`,
    body: "The task, its input, its error and its attempts are gone for good. Those of runs that are not over stay.",
    act: "Delete for good",
    cli: deleteCli(which),
  };
}

function questioned(which: Which): string {
  if ("tasks" in which) return plural(which.tasks.length, "dead letter");
  return `all dead letters${isFiltered(which.filter) ? " that match" : ""}`;
}

/** The same on the command line; without a filter it has to be said that all are meant. */
export function deleteCli(which: Which): string {
  if ("filter" in which) {
    return `godel dead delete${deadFlags(which.filter) || " --all"} --yes`;
  }
  return `godel dead delete ${which.tasks.map(({ id }) => id.slice(-8)).join(" ")} --yes`;
}

async function deleteEach(ids: readonly string[]): Promise<Outcome> {
  let deleted = 0;
  let kept = 0;
  for (const id of ids) {
    try {
      await remove(`/api/v1/dead-letters/${encodeURIComponent(id)}`);
      deleted += 1;
    } catch (error) {
      const code = error instanceof ApiError ? error.code : undefined;
      if (code === "task_state") kept += 1;
      // Gone already is what was wanted: somebody else was faster.
      else if (code !== "task_not_found") throw error;
    }
  }
  return { deleted, kept };
}

/** How it ended, in a line. */
export function deletedToast({ deleted, kept }: Outcome) {
  const title =
    deleted === 0 ? "No dead letter is deleted" : `${plural(deleted, "dead letter")} deleted`;
  return kept > 0 ? { title, detail: `${kept} stay: their runs are not over.` } : { title };
}
