import { useQuery } from "@tanstack/react-query";
import { post } from "../../../api/client";
import type { Task, Worker } from "../../../api/types";
import { useChange } from "../../../change/useChange";
import { plural, shellWord } from "../../../ui/format";
import type { MenuItem } from "../../../ui/Menu";
import { TASK_LISTS } from "../queries";
import { workerQueries } from "../workers/queries";

/** Whoever may change the tasks of all may say who does them. */
const MAY_ASSIGN = "task:update:team";
const nameOf = ([first, ...rest]: readonly Task[]) =>
  rest.length === 0 ? (first?.title ?? "nothing") : plural(rest.length + 1, "task");

/** Only what waits for a worker can be given to one. */
export function isWaiting({ state }: Pick<Task, "state">): boolean {
  return state === "ready" || state === "delayed";
}

/** Why none of these tasks can be given to somebody. */
function whyNone(tasks: readonly Task[]): string | undefined {
  if (tasks.some(isWaiting)) return undefined;
  const [only] = tasks;
  return tasks.length === 1 && only
    ? `It is ${only.state}; only what is ready or delayed can be given to a worker.`
    : "None of them is ready or delayed.";
}

/** Lets one worker alone do tasks that wait. No list shows for whom a task waits, so a message does. */
function useAssignTasks() {
  return useChange<{ tasks: readonly Task[]; worker: Worker }, Task[]>({
    what: ({ tasks, worker }) => `Give ${nameOf(tasks)} to ${worker.name}`,
    send: ({ tasks, worker }) =>
      Promise.all(
        tasks.map(({ id }) =>
          post(`/api/v1/tasks/${encodeURIComponent(id)}/assign`, { workerId: worker.id }),
        ),
      ),
    settle: ({ tasks }) => [...TASK_LISTS, ...tasks.map(({ id }) => ["task", id])],
    done: ({ tasks, worker }) => doneText(tasks, worker),
  });
}

/** What is told then; a worker of another pool may be a mistake, so that is said, too. */
export function doneText(tasks: readonly Task[], worker: Worker): string {
  const waits = `${nameOf(tasks)} ${tasks.length === 1 ? "waits" : "wait"} for ${worker.name} alone`;
  const others = [...new Set(tasks.map(({ pool }) => pool))].filter((pool) => pool !== worker.pool);
  return others.length === 0
    ? waits
    : `${waits}, which is of the pool ${worker.pool} and not of ${others.join(", ")}`;
}

/** The workers that are here as lines of a menu, by their pools: a click gives the tasks to one. */
export function useAssignItems(): (tasks: readonly Task[]) => MenuItem[] {
  const workers = useQuery(workerQueries.all);
  const assign = useAssignTasks();
  return (tasks) => {
    const here = (workers.data?.items ?? []).filter(({ status }) => status !== "offline");
    if (here.length === 0) return [nobody(workers.isPending)];
    const refused = whyNone(tasks);
    const waiting = tasks.filter(isWaiting);
    return inOrder(here, tasks).map((worker) => ({
      id: worker.id,
      title: worker.name,
      icon: "agents",
      group: `Pool ${worker.pool}`,
      can: MAY_ASSIGN,
      refused,
      cli: assignCli(refused === undefined ? waiting : tasks, worker),
      run: () => assign.mutate({ tasks: waiting, worker }),
    }));
  };
}

function nobody(isPending: boolean): MenuItem {
  const refused = isPending ? "The workers are being read." : "No worker is here.";
  return { id: "nobody", title: "Nobody to give it to", refused, run: () => undefined };
}

/** By pool, and those first that would take the tasks anyhow. */
function inOrder(workers: readonly Worker[], tasks: readonly Task[]): readonly Worker[] {
  const isFar = ({ pool }: Worker) => Number(!tasks.some((task) => task.pool === pool));
  return workers.toSorted(
    (one, other) =>
      isFar(one) - isFar(other) ||
      one.pool.localeCompare(other.pool) ||
      one.name.localeCompare(other.name),
  );
}

/** The same on the command line. */
export function assignCli(tasks: readonly Task[], { name }: Pick<Worker, "name">): string {
  return tasks.map(({ id }) => `godel task assign ${id.slice(-8)} ${shellWord(name)}`).join("\n");
}
