import { useEffect, useRef } from "react";
import type { Notice } from "../../api/types";
import type { Rows } from "../../ui/table/useRows";
import { needsVerdict } from "./kinds";

/**
 * The card that keys are about when nobody has chosen one, or the one that was chosen is gone: the
 * next of those that the reader saw, and none that came since. A gate cannot be taken back, so it
 * is never chosen for somebody.
 */
export function nextChosen(
  seen: readonly Notice[],
  before: string | undefined,
  rows: readonly Notice[],
): Notice | undefined {
  const newest = new Map(rows.map((notice) => [notice.id, notice]));
  const stillThere = (notices: readonly Notice[]) =>
    notices.flatMap(({ id }) => newest.get(id) ?? []);
  const at = seen.findIndex(({ id }) => id === before);
  const near = [...stillThere(seen.slice(at + 1)), ...stillThere(seen.slice(0, at + 1)).reverse()];
  const known = near.length > 0 ? near : rows;
  // A list that begins with a gate waits until somebody chooses.
  return (at < 0 ? known.slice(0, 1) : known).find((notice) => !needsVerdict(notice));
}

/** Keeps one card chosen until it is gone or the reader moves, whatever comes meanwhile. */
export function useChosen(
  rows: readonly Notice[],
  { cursor, setCursor }: Pick<Rows<Notice>, "cursor" | "setCursor">,
): Notice | undefined {
  const seen = useRef(rows);
  const chosen = rows.find(({ id }) => id === cursor);
  const isChosen = chosen !== undefined;
  useEffect(() => {
    if (!isChosen) setCursor(nextChosen(seen.current, cursor, rows)?.id);
    seen.current = rows;
  }, [isChosen, cursor, rows, setCursor]);
  return chosen;
}
