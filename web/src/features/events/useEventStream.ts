import { useCallback, useEffect, useReducer, useState } from "react";
import { serverNow } from "../../api/clock";
import type { GodelEvent } from "../../api/types";
import { useHub, useLive } from "../../realtime/live";
import { matchesPattern } from "../../realtime/pattern";
import type { Connection } from "../../realtime/socket";
import { EMPTY_LIST, type EventList, reduceEventList } from "./eventList";
import { RateMeter } from "./rate";

export interface EventStream {
  list: EventList;
  connection: Connection;
  rate: RateMeter;
  hold: (on: boolean) => void;
  showHeld: () => void;
}

/** Follows the event log for as long as the component lives, over the connection of the page. */
export function useEventStream(pattern: string): EventStream {
  const hub = useHub();
  const { connection } = useLive();
  const [list, dispatch] = useReducer(reduceEventList, EMPTY_LIST);
  const [rate] = useState(() => new RateMeter());

  useEffect(() => {
    const isAll = pattern === "*";
    const take = (events: readonly GodelEvent[], total: number) => {
      const wanted = events.filter((event) => matchesPattern(pattern, event.type));
      if (wanted.length === 0 && !isAll) return;
      rate.add(wanted, serverNow());
      dispatch({ type: "received", events: wanted, total: isAll ? total : wanted.length });
    };
    rate.clear();
    dispatch({ type: "filter", pattern });
    take(hub.recent, hub.recent.length);
    return hub.read((told) => {
      if (told.type === "events") take(told.events, told.total);
      else if (told.type === "gap") dispatch({ type: "lost", gap: told.gap });
      else {
        rate.clear();
        dispatch({ type: "clear" });
      }
    });
  }, [hub, pattern, rate]);

  const hold = useCallback((on: boolean) => dispatch({ type: "hold", on }), []);
  const showHeld = useCallback(() => dispatch({ type: "showHeld" }), []);
  return { list, connection, rate, hold, showHeld };
}
