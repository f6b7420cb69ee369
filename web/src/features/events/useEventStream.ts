import { useCallback, useEffect, useReducer, useRef, useState } from "react";
import { FrameBatch } from "../../realtime/batch";
import { type Connection, EventSocket } from "../../realtime/socket";
import { EMPTY_LIST, type EventList, MAX_ROWS, reduceEventList } from "./eventList";
import { RateMeter } from "./rate";

/** How many past sequence numbers fill the list when the page opens. */
const HISTORY = 200;

export interface EventStream {
  list: EventList;
  connection: Connection;
  rate: RateMeter;
  hold: (on: boolean) => void;
  showHeld: () => void;
  retryNow: () => void;
}

/** Follows the event log for as long as the component lives. */
export function useEventStream(pattern: string): EventStream {
  const [list, dispatch] = useReducer(reduceEventList, EMPTY_LIST);
  const [connection, setConnection] = useState<Connection>({ phase: "connecting" });
  const [rate] = useState(() => new RateMeter());
  const socketRef = useRef<EventSocket>(undefined);
  const batchRef = useRef<FrameBatch>(undefined);
  const activePattern = useRef(pattern);

  useEffect(() => {
    const batch = new FrameBatch(MAX_ROWS, (events, total) =>
      dispatch({ type: "received", events, total }),
    );
    const socket = new EventSocket({
      url: eventsUrl(window.location),
      pattern: activePattern.current,
      history: HISTORY,
      onEvents: (events) => {
        rate.add(events, Date.now());
        batch.push(events);
      },
      onGap: (gap) => {
        batch.flush();
        dispatch({ type: "lost", gap });
      },
      onReset: () => {
        batch.clear();
        rate.clear();
        dispatch({ type: "clear" });
      },
      onConnection: setConnection,
    });
    socketRef.current = socket;
    batchRef.current = batch;
    socket.start();
    const stopHints = onComeback(() => socket.retryNow());
    return () => {
      stopHints();
      socket.stop();
      batch.clear();
    };
  }, [rate]);

  useEffect(() => {
    if (activePattern.current === pattern) return;
    activePattern.current = pattern;
    batchRef.current?.flush();
    rate.clear();
    dispatch({ type: "filter", pattern });
    socketRef.current?.setPattern(pattern);
  }, [pattern, rate]);

  const hold = useCallback((on: boolean) => dispatch({ type: "hold", on }), []);
  const showHeld = useCallback(() => dispatch({ type: "showHeld" }), []);
  const retryNow = useCallback(() => socketRef.current?.retryNow(), []);
  return { list, connection, rate, hold, showHeld, retryNow };
}

/** The WebSocket address of the server this page came from. */
export function eventsUrl(location: { protocol: string; host: string }): string {
  return `${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}/events`;
}

/** Calls back when the network or the reader returns: both are good moments to try again. */
function onComeback(act: () => void): () => void {
  const onVisible = () => document.visibilityState === "visible" && act();
  window.addEventListener("online", act);
  document.addEventListener("visibilitychange", onVisible);
  return () => {
    window.removeEventListener("online", act);
    document.removeEventListener("visibilitychange", onVisible);
  };
}
