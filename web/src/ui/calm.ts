import { useRef, useState } from "react";

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
 * new, and those that are gone as they were.
 */
export function heldRows<T>(
  seen: readonly T[],
  rows: readonly T[],
  keyOf: (row: T) => string,
): { rows: T[]; waiting: number } {
  const newest = new Map(rows.map((row) => [keyOf(row), row]));
  const held = seen.map((row) => newest.get(keyOf(row)) ?? row);
  const known = new Set(seen.map(keyOf));
  return { rows: held, waiting: rows.filter((row) => !known.has(keyOf(row))).length };
}

/** Keeps a list still while `isBusy`: new rows wait behind "12 new", nothing changes places. */
export function useCalm<T>(
  rows: readonly T[],
  keyOf: (row: T) => string,
  isBusy: boolean,
): Calm<T> {
  const seen = useRef(rows);
  const [, redraw] = useState(0);
  const show = () => {
    seen.current = rows;
    redraw((times) => times + 1);
  };
  // A list that was empty has no reader, and one whose filter changed is another list.
  if (!isBusy || seen.current.length === 0) seen.current = rows;
  if (seen.current === rows) return { rows, waiting: 0, show };
  return { ...heldRows(seen.current, rows, keyOf), show };
}
