import { useDeferredValue, useRef, useState } from "react";
import { usePlace } from "../router/router";

/** What a reader sees of a list that changes while it is read. */
export interface Calm<T> {
  rows: readonly T[];
  /** How many new rows wait. */
  waiting: number;
  /** Lets in what waits. */
  show: () => void;
}

/**
 * Rows in the order in which the reader last saw them: each with its newest content, none that is
 * new, and those that are gone as they were, but for those that the reader took away.
 */
export function heldRows<T>(
  seen: readonly T[],
  rows: readonly T[],
  keyOf: (row: T) => string,
  isTaken?: (row: T) => boolean,
): { shown: T[]; waiting: number } {
  const newest = new Map(rows.map((row) => [keyOf(row), row]));
  let found = 0;
  const held = seen.flatMap((row) => {
    const fresh = newest.get(keyOf(row));
    if (fresh === undefined) return isTaken?.(row) ? [] : [row];
    found += 1;
    return [fresh];
  });
  return { shown: held, waiting: newest.size - found };
}

/** What is in the address but does not change which rows are shown. */
const BESIDE = ["peek", "tab"];

/**
 * Keeps a list still while `isBusy`: new rows wait behind "12 new", nothing changes places. Another
 * filter or sorting, as the address says it, is another list and shows at once.
 */
export function useCalm<T>(
  rows: readonly T[],
  keyOf: (row: T) => string,
  isBusy: boolean,
  isTaken?: (row: T) => boolean,
): Calm<T> {
  const seen = useRef(rows);
  // Lists may follow the address a moment later, so it counts from when they do.
  const view = useDeferredValue(useViewName());
  const viewed = useRef(view);
  const [, redraw] = useState(0);
  const held = useRef<{ seen: readonly T[]; rows: readonly T[]; shown: T[]; waiting: number }>(
    undefined,
  );
  const show = () => {
    seen.current = rows;
    redraw((times) => times + 1);
  };
  // A list that was empty has no reader.
  if (!isBusy || viewed.current !== view || seen.current.length === 0) seen.current = rows;
  viewed.current = view;
  if (seen.current === rows) return { rows, waiting: 0, show };
  // Whoever scrolls through a long list has it drawn with each frame; what is in it is worked out once.
  if (held.current?.seen !== seen.current || held.current.rows !== rows) {
    held.current = { seen: seen.current, rows, ...heldRows(seen.current, rows, keyOf, isTaken) };
  }
  return { rows: held.current.shown, waiting: held.current.waiting, show };
}

function useViewName(): string {
  const { search } = usePlace();
  const fields = new URLSearchParams(search);
  for (const name of BESIDE) fields.delete(name);
  return fields.toString();
}
