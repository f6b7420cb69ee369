import { type RefObject, useEffect, useState } from "react";
import { useAction } from "../../actions/actions";
import { BACK } from "../../actions/common";
import { useActing } from "../../change/useActing";
import { type Calm, useCalm } from "../calm";
import { usePresence } from "../usePresence";
import { type Rows, type RowsOptions, useRows } from "./useRows";

interface CalmRowsOptions<T> extends Omit<RowsOptions<T>, "onMove" | "reached"> {
  /** Where the rows are drawn. */
  box: RefObject<HTMLElement | null>;
  /** Whether the reader took a row away: that one goes at once, also while the list is kept still. */
  isTaken?: ((row: T) => boolean) | undefined;
  /** Which of the rows keys lead to, and in which order; all as they are unless given. */
  reach?: ((rows: readonly T[]) => readonly T[]) | undefined;
  /** The row that is peeked at: Esc closes that first. */
  peeked?: string | undefined;
}

/**
 * A list with a cursor that keeps still while somebody is in it, by mouse or by keys: the row that a
 * key is about must not move away under the cursor. Esc leaves the list, as does a press elsewhere.
 */
export function useCalmRows<T>(options: CalmRowsOptions<T>): { calm: Calm<T>; list: Rows<T> } {
  const { box, rows, keyOf, isTaken, peeked, reach } = options;
  const [isByKeys, setByKeys] = useState(false);
  const isHere = usePresence(box);
  // What one does oneself shows at once: a new row, or one that went.
  const isActing = useActing();
  const calm = useCalm(rows, keyOf, isHere || (isByKeys && !isActing), isTaken);
  const list = useRows({
    ...options,
    rows: calm.rows,
    reached: reach?.(calm.rows),
    onMove: () => setByKeys(true),
  });
  const { cursor, setCursor } = list;
  const leave = () => {
    setByKeys(false);
    setCursor(undefined);
  };
  useAction(BACK, leave, { when: isByKeys && peeked === undefined });
  const isAt = isByKeys && calm.rows.some((row) => keyOf(row) === cursor);
  useEffect(() => {
    if (!isAt) setByKeys(false);
  }, [isAt]);
  useEffect(() => {
    if (!isByKeys) return;
    const onPress = ({ target }: PointerEvent) => {
      if (!(target instanceof Node && box.current?.contains(target))) setByKeys(false);
    };
    document.addEventListener("pointerdown", onPress);
    return () => document.removeEventListener("pointerdown", onPress);
  }, [isByKeys, box]);
  return { calm, list };
}
