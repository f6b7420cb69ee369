import { useCallback, useState, useSyncExternalStore } from "react";
import { serverNow } from "../api/clock";

/** One clock for all who want the time equally often: a table of a hundred times has one timer, and draws once. */
interface Clock {
  now: number;
  ticks: number;
  timer: ReturnType<typeof setInterval> | undefined;
  readers: Set<() => void>;
}

const CLOCKS = new Map<number, Clock>();

/** The current time of the server, refreshed every `everyMs` while `active`. */
export function useNow(everyMs: number, active = true): number {
  const clock = clockOf(everyMs);
  // Who comes between two ticks knows the time to the millisecond, and goes on with the others.
  const [came] = useState(() => ({ at: serverNow(), ticks: clock.ticks }));
  const follow = useCallback(
    (reader: () => void) => (active ? followed(everyMs, reader) : () => {}),
    [everyMs, active],
  );
  const ticks = useSyncExternalStore(follow, () => clock.ticks);
  return ticks === came.ticks ? came.at : clock.now;
}

function clockOf(everyMs: number): Clock {
  const known = CLOCKS.get(everyMs);
  if (known) return known;
  const clock: Clock = { now: serverNow(), ticks: 0, timer: undefined, readers: new Set() };
  CLOCKS.set(everyMs, clock);
  return clock;
}

function followed(everyMs: number, reader: () => void): () => void {
  const clock = clockOf(everyMs);
  clock.readers.add(reader);
  clock.timer ??= setInterval(() => {
    clock.now = serverNow();
    clock.ticks += 1;
    for (const tell of [...clock.readers]) tell();
  }, everyMs);
  return () => {
    clock.readers.delete(reader);
    if (clock.readers.size > 0) return;
    clearInterval(clock.timer);
    clock.timer = undefined;
  };
}
