import { useCallback, useMemo, useState } from "react";
import { useAction } from "../../actions/actions";
import { LIST } from "../../actions/common";

export interface RowsOptions<T> {
  rows: readonly T[];
  /** Those of them that the cursor goes through, in this order; all unless given. Others may be folded away. */
  reached?: readonly T[] | undefined;
  keyOf: (row: T) => string;
  /** Enter: goes to the page of the row. */
  onOpen?: ((row: T) => void) | undefined;
  /** Space: shows it beside the list. */
  onPeek?: ((row: T) => void) | undefined;
  /** Whether rows can be chosen for the bar of many. */
  canSelect?: boolean | undefined;
  /** How many rows `j` and `k` move by; a grid has several per line. */
  step?: number | undefined;
  /** Told when a key moved the cursor. */
  onMove?: (() => void) | undefined;
}

/** The cursor and the selection of a list, with the keys `j k x Enter Space`. */
export interface Rows<T> {
  cursor: string | undefined;
  setCursor: (key: string | undefined) => void;
  selected: ReadonlySet<string>;
  /** The rows that are selected and still there. */
  selection: readonly T[];
  toggle: (key: string) => void;
  toggleAll: () => void;
  clear: () => void;
}

const NONE: ReadonlySet<string> = new Set();

/** Keeps where the reader is in a list and what is chosen; used by tables, grids and boards. */
export function useRows<T>({
  rows,
  reached = rows,
  keyOf,
  onOpen,
  onPeek,
  canSelect = false,
  step = 1,
  onMove,
}: RowsOptions<T>): Rows<T> {
  const [cursor, setCursor] = useState<string>();
  const [selected, setSelected] = useState(NONE);
  const selection = useMemo(
    () => (selected.size === 0 ? [] : rows.filter((row) => selected.has(keyOf(row)))),
    [rows, selected, keyOf],
  );
  const toggle = useCallback(
    (key: string) =>
      setSelected((before) => {
        const after = new Set(before);
        if (!after.delete(key)) after.add(key);
        return after;
      }),
    [],
  );
  const clear = useCallback(() => setSelected(NONE), []);
  const toggleAll = useCallback(
    () => setSelected((before) => (before.size > 0 ? NONE : new Set(rows.map(keyOf)))),
    [rows, keyOf],
  );
  const at = cursor === undefined ? -1 : reached.findIndex((row) => keyOf(row) === cursor);
  const here = reached[at];
  const move = (by: number) => {
    const to = at < 0 ? (by > 0 ? 0 : reached.length - 1) : at + by;
    const row = reached[Math.min(reached.length - 1, Math.max(0, to))];
    if (!row) return;
    setCursor(keyOf(row));
    onMove?.();
  };
  const hasRows = reached.length > 0;
  const isHere = here !== undefined;
  useAction(LIST.down, () => move(step), { when: hasRows });
  useAction(LIST.up, () => move(-step), { when: hasRows });
  useAction(LIST.select, () => here && toggle(keyOf(here)), { when: canSelect && isHere });
  useAction(LIST.open, () => here && onOpen?.(here), { when: onOpen !== undefined && isHere });
  useAction(LIST.peek, () => here && onPeek?.(here), { when: onPeek !== undefined && isHere });
  return { cursor, setCursor, selected, selection, toggle, toggleAll, clear };
}
