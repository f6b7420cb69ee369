import { queryOptions } from "@tanstack/react-query";
import { get, patch, remove } from "../../../api/client";
import { type Listing, list } from "../../../api/list";
import type { Worker, WorkerDetail } from "../../../api/types";
import { type Rehearsal, useChange } from "../../../change/useChange";
import { onLive } from "../../../realtime/rules";

const WORKERS = ["workers"] as const;
const MOST = 1_000;
const path = (id: string) => `/api/v1/workers/${encodeURIComponent(id)}` as const;

export const workerQueries = {
  all: queryOptions({
    queryKey: WORKERS,
    queryFn: () => list("/api/v1/workers", { most: MOST }),
  }),
  one: (id: string) => queryOptions({ queryKey: ["worker", id], queryFn: () => get(path(id)) }),
};

onLive({ on: ["worker:*", "task:*"], invalidate: () => [WORKERS, ["worker"]] });

function expectStatus(cache: Rehearsal, worker: Worker, status: string): void {
  cache.update<Listing<Worker>>(WORKERS, (listing) => ({
    ...listing,
    items: listing.items.map((one) => (one.id === worker.id ? { ...one, status } : one)),
  }));
  cache.update<WorkerDetail>(["worker", worker.id], (one) => ({ ...one, status }));
}

const settle = (worker: Worker) => [WORKERS, ["worker", worker.id]];

/** Gives a worker no tasks for now, or goes on. */
export function usePauseWorker() {
  const send = (worker: Worker, isPaused: boolean) =>
    patch(path(worker.id), { state: isPaused ? "paused" : "active" });
  const isPaused = ({ status }: Worker) => status === "paused";
  return useChange<Worker, Worker>({
    what: (worker) => `${isPaused(worker) ? "Resume" : "Pause"} ${worker.name}`,
    send: (worker) => send(worker, !isPaused(worker)),
    expect: (cache, worker) => {
      const awake = worker.load > 0 ? "busy" : "idle";
      expectStatus(cache, worker, isPaused(worker) ? awake : "paused");
    },
    settle,
    done: (worker) => `${worker.name} ${isPaused(worker) ? "gets tasks again" : "is paused"}`,
    undo: (worker) => send(worker, isPaused(worker)),
  });
}

/** Takes a worker off the list; what it has is given to others. */
export function useRemoveWorker() {
  return useChange<Worker, void>({
    what: (worker) => `Remove ${worker.name}`,
    send: (worker) => remove(path(worker.id)),
    expect: (cache, worker) => expectStatus(cache, worker, "offline"),
    settle,
    done: (worker) => `${worker.name} is removed`,
  });
}
