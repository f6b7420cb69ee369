import { queryOptions } from "@tanstack/react-query";
import { get, patch, post, remove } from "../../api/client";
import { type Listing, list } from "../../api/list";
import type { Pool, Run, RunRow, RunStep, Schedule, Task } from "../../api/types";
import { useChange } from "../../change/useChange";
import { onLive } from "../../realtime/rules";
import type { Draft } from "../../ui/useDraft";

const TASKS = ["tasks"] as const;
/** What everything about dead letters begins with. */
export const DEAD = ["dead"] as const;
const RUNS = ["runs"] as const;
const SCHEDULES = ["schedules"] as const;
const QUEUE = ["queue"] as const;
/** What lists tasks or counts them. */
export const TASK_LISTS = [TASKS, DEAD, QUEUE] as const;
/** The newest are enough to look at; a filter finds others. */
const MOST = 1_000;
const taskPath = (id: string) => `/api/v1/tasks/${encodeURIComponent(id)}` as const;
const runPath = (id: string) => `/api/v1/runs/${encodeURIComponent(id)}` as const;

export const queueQueries = {
  tasks: (filter: { state?: string; pool?: string; run?: string }) =>
    queryOptions({
      queryKey: [...TASKS, filter],
      queryFn: () => list("/api/v1/tasks", { filter, most: MOST }),
    }),
  task: (id: string) => queryOptions({ queryKey: ["task", id], queryFn: () => get(taskPath(id)) }),
  depth: queryOptions({
    queryKey: [...QUEUE, "depth"],
    queryFn: () => get("/api/v1/queue/depth"),
  }),
  pools: queryOptions({
    queryKey: [...QUEUE, "pools"],
    queryFn: () => get("/api/v1/queue/pools"),
  }),
  schedules: queryOptions({
    queryKey: SCHEDULES,
    queryFn: () => list("/api/v1/schedules"),
  }),
  workflows: queryOptions({
    queryKey: ["workflows"],
    queryFn: () => list("/api/v1/workflows"),
  }),
  runs: queryOptions({
    queryKey: RUNS,
    queryFn: () => list("/api/v1/runs", { most: MOST }),
  }),
  run: (id: string) => queryOptions({ queryKey: ["run", id], queryFn: () => get(runPath(id)) }),
  /** One step with each time that it was begun. */
  step: (id: string, step: string) =>
    queryOptions({
      // Not below the list of steps: who changes that list would take this for one, too.
      queryKey: ["run", id, "step", step],
      queryFn: () => get(`${runPath(id)}/steps/${encodeURIComponent(step)}`),
    }),
  steps: (id: string) =>
    queryOptions({ queryKey: ["run", id, "steps"], queryFn: () => readSteps(id) }),
};

onLive({
  on: ["task:*", "pool:*"],
  invalidate: () => [TASKS, DEAD, QUEUE, ["task"], ["run"]],
});
onLive({ on: "schedule:*", invalidate: () => [SCHEDULES] });
onLive({
  on: ["workflow:*", "run:*", "step:*"],
  invalidate: () => [RUNS, ["run"], ["workflows"]],
});

async function readSteps(id: string): Promise<RunStep[]> {
  const steps: RunStep[] = [];
  for (let from: number | undefined = 0; from !== undefined; ) {
    const page: { steps: RunStep[]; next?: number | null } = await get(
      `${runPath(id)}/steps?from=${from}`,
    );
    steps.push(...page.steps);
    from = page.next ?? undefined;
  }
  return steps;
}

function expectState(id: string, state: string) {
  return (listing: Listing<Task>): Listing<Task> => ({
    ...listing,
    items: listing.items.map((task) => (task.id === id ? { ...task, state } : task)),
  });
}

const SETTLE = (task: Task) => [...TASK_LISTS, ["task", task.id]];

/** Puts a task back into the queue, or lets its next attempt come now. */
export function useRetryTask() {
  return useChange<Task, Task>({
    what: (task) => `Retry ${task.title}`,
    send: (task) => post(`${taskPath(task.id)}/retry`),
    expect: (cache, task) => {
      cache.update(TASKS, expectState(task.id, "ready"));
      cache.update<Listing<Task>>(DEAD, (listing) => ({
        ...listing,
        items: listing.items.filter(({ id }) => id !== task.id),
      }));
    },
    settle: SETTLE,
    done: (task) => `${task.title} is in the queue again`,
  });
}

/** A task that is to be cancelled, and why. */
export interface Cancelling {
  task: Task;
  reason?: string | undefined;
  /** What the reason was written as. */
  draft?: Draft | undefined;
}

/** Takes a task off the queue, with all that waits for it; retrying brings it back. */
export function useCancelTask() {
  return useChange<Cancelling, Task>({
    what: ({ task }) => `Cancel ${task.title}`,
    send: ({ task, reason }) =>
      post(`${taskPath(task.id)}/cancel`, reason === undefined ? {} : { reason }),
    expect: (cache, { task }) => cache.update(TASKS, expectState(task.id, "cancelled")),
    draftOf: ({ draft }) => draft,
    settle: ({ task }) => SETTLE(task),
    done: ({ task }) => `${task.title} is cancelled`,
    undo: ({ task }) => post(`${taskPath(task.id)}/retry`),
  });
}

/** Lets a schedule make nothing for now, or go on. */
export function usePauseSchedule() {
  const send = (schedule: Schedule, paused: boolean) =>
    patch(`/api/v1/schedules/${encodeURIComponent(schedule.id)}`, { paused });
  return useChange<Schedule, Schedule>({
    what: (schedule) => `${schedule.paused ? "Resume" : "Pause"} ${schedule.name}`,
    send: (schedule) => send(schedule, !schedule.paused),
    expect: (cache, schedule) =>
      cache.update<Listing<Schedule>>(SCHEDULES, (listing) => ({
        ...listing,
        items: listing.items.map((one) =>
          one.id === schedule.id ? { ...one, paused: !schedule.paused } : one,
        ),
      })),
    settle: () => [SCHEDULES],
    done: (schedule) => `${schedule.name} ${schedule.paused ? "goes on" : "is paused"}`,
    undo: (schedule) => send(schedule, schedule.paused),
  });
}

/** Deletes a schedule; the tasks that it made stay. */
export function useDeleteSchedule() {
  return useChange<Schedule, void>({
    what: (schedule) => `Delete ${schedule.name}`,
    send: (schedule) => remove(`/api/v1/schedules/${encodeURIComponent(schedule.id)}`),
    expect: (cache, schedule) =>
      cache.update<Listing<Schedule>>(SCHEDULES, (listing) => ({
        ...listing,
        items: listing.items.filter(({ id }) => id !== schedule.id),
      })),
    settle: () => [SCHEDULES],
    done: (schedule) => `${schedule.name} is deleted`,
  });
}

/** Hands nothing of a pool out for now, or goes on. */
export function usePausePool() {
  const send = (pool: Pool, paused: boolean) =>
    patch(`/api/v1/queue/pools/${encodeURIComponent(pool.name)}`, { paused });
  return useChange<Pool, Pool>({
    what: (pool) => `${pool.paused ? "Resume" : "Pause"} the pool ${pool.name}`,
    send: (pool) => send(pool, !pool.paused),
    expect: (cache, pool) =>
      cache.update<{ items: Pool[] }>([...QUEUE, "pools"], ({ items }) => ({
        items: items.map((one) =>
          one.name === pool.name ? { ...one, paused: !pool.paused } : one,
        ),
      })),
    settle: () => [QUEUE],
    done: (pool) => `The pool ${pool.name} ${pool.paused ? "goes on" : "is paused"}`,
    undo: (pool) => send(pool, pool.paused),
  });
}

/** What can be done with a run by one word. */
export type RunVerb = "pause" | "resume" | "cancel" | "retry";

const RUN_STATES: Record<RunVerb, string> = {
  pause: "paused",
  resume: "running",
  cancel: "cancelled",
  retry: "running",
};

/** Pauses, resumes, cancels or retries a run. */
export function useRunVerb(verb: RunVerb) {
  return useChange<RunRow, Run>({
    what: (run) => `${verb[0]?.toUpperCase()}${verb.slice(1)} ${run.name}`,
    send: (run) =>
      verb === "retry"
        ? post(`${runPath(run.id)}/${verb}`, {})
        : post(`${runPath(run.id)}/${verb}`),
    expect: (cache, run) => {
      cache.update<Listing<RunRow>>(RUNS, (listing) => ({
        ...listing,
        items: listing.items.map((one) =>
          one.id === run.id ? { ...one, state: RUN_STATES[verb] } : one,
        ),
      }));
      cache.update<Run | RunStep[]>(["run", run.id], (data) =>
        Array.isArray(data) ? data : { ...data, state: RUN_STATES[verb] },
      );
    },
    settle: (run) => [RUNS, ["run", run.id]],
    ...(verb === "pause" && {
      done: (run: RunRow) => `${run.name} is paused`,
      undo: (run: RunRow) => post(`${runPath(run.id)}/resume`),
    }),
  });
}
