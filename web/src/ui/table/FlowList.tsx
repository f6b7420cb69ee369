import {
  type ReactNode,
  type RefObject,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { FlowItem } from "../flow/flow";
import { type Flow, useFlow } from "../flow/useFlow";
import { drawnOf } from "./drawn";

interface FlowListProps<T> {
  /** What the rows are, for a screen reader. */
  label: string;
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** How high a row is, about; what is drawn is measured. */
  heightOf: (row: T) => number;
  /** Rows that are drawn wherever the list is scrolled to. */
  isKept?: (row: T) => boolean;
  /** The row that keys are about; it is drawn, and brought into view when it becomes another. */
  cursor?: string | undefined;
  className?: string | undefined;
  rowClass?: string | undefined;
  draw: (row: T) => ReactNode;
}

/**
 * Rows of any height of which only those in view are drawn; what the list stands in directly is what
 * scrolls. The rows are in the flow of the page, so that one which grows pushes those below it at once
 * and not only when it was measured.
 */
export function FlowList<T>(props: FlowListProps<T>) {
  const { rows, keyOf, heightOf, isKept, cursor, draw } = props;
  const list = useRef<HTMLUListElement>(null);
  const box = useBoxOf(list);
  const items = useMemo(
    () => rows.map((row) => ({ key: keyOf(row), estimate: heightOf(row) })),
    [rows, keyOf, heightOf],
  );
  const flow = useFlow(box, items);
  // Who writes in a row and scrolls on still writes there: without it the next letter would be a key of the page.
  const [focused, setFocused] = useState<string>();
  const kept = useMemo(
    () =>
      rows.flatMap((row, index) => {
        const key = items[index]?.key;
        return key === focused || key === cursor || isKept?.(row) ? [index] : [];
      }),
    [rows, items, focused, cursor, isKept],
  );
  const drawn = drawnOf(flow, kept);
  const at = cursor === undefined ? -1 : items.findIndex(({ key }) => key === cursor);
  const show = useEffectEvent(() => {
    // Rows on the way to one far off are not measured yet; at the top none of them moves it away again.
    if (at < flow.first || at >= flow.end) flow.show(at, 0);
    else
      list.current?.children[drawn.rows.findIndex(({ index }) => index === at)]?.scrollIntoView({
        block: "nearest",
      });
  });
  const isThere = at >= 0;
  useEffect(() => {
    if (cursor !== undefined && isThere) show();
  }, [cursor, isThere]);
  return (
    <ul
      ref={list}
      className={props.className}
      aria-label={props.label}
      style={{ paddingBottom: drawn.below }}
    >
      {drawn.rows.map(({ index, above }) => {
        const row = rows[index];
        const item = items[index];
        if (row === undefined || item === undefined) return null;
        return (
          <Row
            key={item.key}
            item={item}
            at={index}
            of={rows.length}
            above={above}
            className={props.rowClass}
            measure={flow.measure}
            onFocus={setFocused}
          >
            {draw(row)}
          </Row>
        );
      })}
    </ul>
  );
}

/** What a list stands in. A ref of the page around it would be set only after the list looked at it. */
function useBoxOf(list: RefObject<HTMLElement | null>): RefObject<HTMLElement | null> {
  const box = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    box.current = list.current?.parentElement ?? null;
  }, [list]);
  return box;
}

interface RowProps {
  item: FlowItem;
  at: number;
  of: number;
  /** The room of the rows above it that are not drawn. */
  above: number;
  className: string | undefined;
  measure: Flow["measure"];
  onFocus: (key: string) => void;
  children: ReactNode;
}

/** A row: it tells how high it is, and a screen reader where it is among all. */
function Row({ item, at, of, above, className, measure, onFocus, children }: RowProps) {
  const element = useRef<HTMLLIElement>(null);
  const { key, estimate } = item;
  useLayoutEffect(
    () => (element.current ? measure(element.current, { key, estimate }) : undefined),
    [measure, key, estimate],
  );
  return (
    <li
      ref={element}
      className={className}
      style={above > 0 ? { marginTop: above } : undefined}
      aria-setsize={of}
      aria-posinset={at + 1}
      // Also of what a row has opened over the page.
      onFocus={() => onFocus(key)}
    >
      {children}
    </li>
  );
}
