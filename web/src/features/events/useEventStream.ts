import { useCallback, useEffect, useReducer, useState } from "react";
import { serverNow } from "../../api/clock";
import { list } from "../../api/list";
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

/** Of one request there are never more. */
const TRACE_MOST = 200;

/**
 * Follows the event log for as long as the component lives, over the connection of the page; only
 * what belongs to a trace, if one is named, however long ago it was.
 */
export function useEventStream(pattern: string, trace?: string): EventStream {
  const hub = useHub();
  const { connection } = useLive();
  const [rows, dispatch] = useReducer(reduceEventList, EMPTY_LIST);
  const [rate] = useState(() => new RateMeter());

  useEffect(() => {
    const isAll = pattern === "*" && trace === undefined;
    const isOf = ({ metadata }: GodelEvent) => trace === undefined || metadata.traceId === trace;
    const take = (events: readonly GodelEvent[], total: number) => {
      const wanted = events.filter((event) => matchesPattern(pattern, event.type) && isOf(event));
      if (wanted.length === 0 && !isAll) return;
      rate.add(wanted, serverNow());
      dispatch({ type: "received", events: wanted, total: isAll ? total : wanted.length });
    };
    rate.clear();
    dispatch(trace === undefined ? { type: "filter", pattern } : { type: "clear" });
    take(hub.recent, hub.recent.length);
    let isOver = false;
    if (trace !== undefined) {
      list("/api/v1/events", { filter: { traceId: trace }, most: TRACE_MOST })
        .then(({ items }) => !isOver && take(items.toReversed(), items.length))
        // The newest ones are there without it.
        .catch(() => undefined);
    }
    const leave = hub.read((told) => {
      if (told.type === "events") take(told.events, told.total);
      else if (told.type === "gap") dispatch({ type: "lost", gap: told.gap });
      else {
        rate.clear();
        dispatch({ type: "clear" });
      }
    });
    return () => {
      isOver = true;
      leave();
    };
  }, [hub, pattern, rate, trace]);

  const hold = useCallback((on: boolean) => dispatch({ type: "hold", on }), []);
  const showHeld = useCallback(() => dispatch({ type: "showHeld" }), []);
  return { list: rows, connection, rate, hold, showHeld };
}
