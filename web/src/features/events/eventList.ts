import type { GodelEvent } from "../../api/types";
import { matchesPattern } from "../../realtime/pattern";
import type { Gap } from "../../realtime/protocol";

/** Rows kept in memory; the log itself stays on the server. */
export const MAX_ROWS = 2_000;

export type Row =
  | { kind: "event"; key: string; at: number; event: GodelEvent }
  | { kind: "gap"; key: string; at: number; gap: Gap };

/** What the list shows, newest first, and what waits behind a pause. */
export interface EventList {
  rows: readonly Row[];
  /** Events taken in since the list began, shown or not. */
  received: number;
  holding: boolean;
  held: readonly Row[];
  heldCount: number;
}

export type EventListAction =
  /** `events` in ascending order; `total` also counts those a busy page skipped. */
  | { type: "received"; events: GodelEvent[]; total: number }
  | { type: "lost"; gap: Gap }
  | { type: "hold"; on: boolean }
  | { type: "showHeld" }
  | { type: "filter"; pattern: string }
  | { type: "clear" };

export const EMPTY_LIST: EventList = {
  rows: [],
  received: 0,
  holding: false,
  held: [],
  heldCount: 0,
};

export function reduceEventList(list: EventList, action: EventListAction): EventList {
  switch (action.type) {
    case "received":
      return take(list, action.events.map(eventRow), action.total - action.events.length);
    case "lost":
      return take(list, [gapRow(action.gap)], 0);
    case "hold":
      if (list.holding === action.on) return list;
      return action.on ? { ...list, holding: true } : { ...showHeld(list), holding: false };
    case "showHeld":
      return showHeld(list);
    case "filter":
      return filter(list, action.pattern);
    case "clear":
      return { ...EMPTY_LIST, holding: list.holding };
  }
}

function take(list: EventList, incoming: Row[], skipped: number): EventList {
  const known = list.holding ? [list.held, list.rows] : [list.rows];
  const fresh = withoutKnown(known, incoming);
  if (fresh.length === 0 && skipped === 0) return list;
  const events = fresh.filter((row) => row.kind === "event").length + skipped;
  const received = list.received + events;
  if (!list.holding) return { ...list, received, rows: merge(list.rows, fresh) };
  return {
    ...list,
    received,
    held: merge(list.held, fresh),
    heldCount: list.heldCount + events,
  };
}

function showHeld(list: EventList): EventList {
  if (list.held.length === 0) return list;
  const rows = merge(list.rows, [...list.held].reverse());
  return { ...list, rows, held: [], heldCount: 0 };
}

function filter(list: EventList, pattern: string): EventList {
  const rows = list.rows.filter((row) => isWanted(row, pattern));
  const held = list.held.filter((row) => isWanted(row, pattern));
  return { ...list, rows, held, heldCount: held.length, received: rows.length + held.length };
}

function isWanted(row: Row, pattern: string): boolean {
  return row.kind === "event" && matchesPattern(pattern, row.event.type);
}

/** Drops rows that are there already; the usual case, all newer, costs nothing. */
function withoutKnown(known: (readonly Row[])[], incoming: Row[]): Row[] {
  const newest = Math.max(-1, ...known.map((rows) => rows[0]?.at ?? -1));
  const first = incoming[0];
  if (first === undefined || first.at > newest) return incoming;
  const keys = new Set(known.flatMap((rows) => rows.map((row) => row.key)));
  return incoming.filter((row) => !keys.has(row.key));
}

/** Adds ascending `incoming` to newest-first `rows`. */
function merge(rows: readonly Row[], incoming: Row[]): readonly Row[] {
  if (incoming.length === 0) return rows;
  const descending = [...incoming].reverse();
  const isNewer = (incoming[0]?.at ?? 0) > (rows[0]?.at ?? -1);
  const all = [...descending, ...rows];
  if (!isNewer) all.sort((a, b) => b.at - a.at);
  return all.length > MAX_ROWS ? all.slice(0, MAX_ROWS) : all;
}

function eventRow(event: GodelEvent): Row {
  return { kind: "event", key: `e${event.sequence}`, at: event.sequence, event };
}

function gapRow(gap: Gap): Row {
  return { kind: "gap", key: `g${gap.fromSequence}-${gap.toSequence}`, at: gap.toSequence, gap };
}
