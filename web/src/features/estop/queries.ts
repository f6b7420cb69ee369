import { queryOptions } from "@tanstack/react-query";
import { get, post, remove } from "../../api/client";
import type { Estop, GodelEvent } from "../../api/types";
import { useChange } from "../../change/useChange";
import { onLive } from "../../realtime/rules";
import { plural, shellWord } from "../../ui/format";

const PATH = "/api/v1/estop";
const KEY = ["estop"] as const;
const STATE = [...KEY, "state"] as const;
/** Who stops what stands still already only changes the reason; so often at most that is looked through. */
const STOPS = 20;

/** Whether everything stands still, and why. */
export const estopQuery = queryOptions({ queryKey: STATE, queryFn: () => get(PATH) });

/** Since when, and by whom, as far as the log of events still knows. */
export const standstillQuery = queryOptions({
  queryKey: [...KEY, "since"],
  queryFn: async () => {
    const [stops, resumes] = await Promise.all([
      latest("fleet:stop", STOPS),
      latest("fleet:resume", 1),
    ]);
    return beginningOf(stops, resumes) ?? null;
  },
});

onLive({ on: "fleet:*", invalidate: () => [KEY] });

async function latest(type: string, limit: number): Promise<GodelEvent[]> {
  const query = new URLSearchParams({
    filter: JSON.stringify({ type }),
    sort: "-sequence",
    limit: String(limit),
  });
  return (await get(`/api/v1/events?${query}`)).items;
}

/** The stop that the standstill began with: the first one after the last time everything went on. */
export function beginningOf(
  stops: readonly GodelEvent[],
  resumes: readonly GodelEvent[],
): { at: string; by: string | undefined } | undefined {
  const resumed = Math.max(0, ...resumes.map(({ sequence }) => sequence));
  const since = stops
    .filter(({ sequence }) => sequence > resumed)
    .toSorted((one, other) => one.sequence - other.sequence);
  const [first] = since;
  if (!first) return undefined;
  const { actor } = first.metadata;
  return { at: first.timestamp, by: actor?.startsWith("user:") ? actor.slice(5) : undefined };
}

const stop = (reason: string) => post(PATH, reason === "" ? {} : { reason });
const settle = () => [KEY, ["agents"]];

/** Lets everything stand still; what agents did stays. */
export function useStopAll() {
  return useChange<string, Estop>({
    what: () => "Stop everything",
    send: stop,
    expect: (cache, reason) =>
      cache.update<Estop>(STATE, (state) => ({ ...state, stopped: true, reason })),
    settle,
    done: (_, { agents }) => `Everything stands still, ${plural(agents, "agent")} paused`,
    undo: () => remove(PATH),
  });
}

/** Lets everything go on that was stopped. */
export function useResumeAll() {
  return useChange<void, Estop>({
    what: () => "Let everything go on",
    send: () => remove(PATH),
    expect: (cache) =>
      cache.update<Estop>(STATE, (state) => ({ ...state, stopped: false, reason: null })),
    settle,
    done: (_, { agents }) => `Everything goes on, ${plural(agents, "agent")} resumed`,
  });
}

/** The same on the command line. */
export function stopCli(reason: string): string {
  return reason === "" ? "godel estop" : `godel estop --reason ${shellWord(reason)}`;
}
