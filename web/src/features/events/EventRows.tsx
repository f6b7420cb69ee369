import {
  type KeyboardEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { count } from "../../ui/format";
import { usePresence } from "../../ui/usePresence";
import { topOf, windowOf } from "../../ui/window";
import { EventRow } from "./EventRow";
import styles from "./EventRows.module.css";
import { MAX_ROWS, type Row } from "./eventList";

const ROW_HEIGHT = 37;
const ROW_HEIGHT_NARROW = 54;
const NARROW = "(max-width: 640px)";

interface EventRowsProps {
  rows: readonly Row[];
  /** Told when the reader is busy in the list, so that it must not move. */
  onBusy: (busy: boolean) => void;
  /** Changes when the list must go back to its top. */
  topSignal: number;
}

/** The scrolling list; draws only the rows in view. */
export function EventRows({ rows, onBusy, topSignal }: EventRowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ scrollTop: 0, viewportHeight: 600, rowHeight: ROW_HEIGHT });
  const [openKey, setOpenKey] = useState<string>();
  const [tabStop, setTabStop] = useState<string>();
  const [details, openHeight] = useHeight();
  const presence = usePresence(box);

  useViewport(box, setView);

  const openIndex = openKey === undefined ? -1 : rows.findIndex((row) => row.key === openKey);
  const isBusy = presence || openIndex >= 0 || view.scrollTop > view.rowHeight / 2;
  useEffect(() => onBusy(isBusy), [isBusy, onBusy]);
  // A list that empties (a filter, a new log) goes away with whoever was reading it.
  useEffect(() => () => onBusy(false), [onBusy]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the signal is the reason to run
  useEffect(() => {
    setOpenKey(undefined);
    box.current?.scrollTo({ top: 0 });
  }, [topSignal]);

  const toggle = useCallback((key: string) => {
    setTabStop(key);
    setOpenKey((open) => (open === key ? undefined : key));
  }, []);

  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    const from = (event.target as HTMLElement).dataset.row;
    if (!step || !from || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = neighbour(rows, from, step);
    if (!next) return;
    event.preventDefault();
    setTabStop(next.key);
    box.current?.querySelector<HTMLElement>(`[data-row="${next.key}"]`)?.focus();
  };

  const open = { rowHeight: view.rowHeight, openIndex, openHeight };
  const shown = windowOf({ count: rows.length, ...view, ...open });
  const visible = rows.slice(shown.first, shown.end);
  const stop = visible.some((row) => row.key === tabStop)
    ? tabStop
    : visible.find((row) => row.kind === "event")?.key;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: arrow keys add to the buttons inside
    <div ref={box} className={styles.box} onKeyDown={onKeyDown}>
      <div style={{ height: shown.total }}>
        <ol className={styles.rows} aria-label="Events, newest first">
          {visible.map((row, index) => (
            <li
              key={row.key}
              // Each has a place of its own: a newer one lets it slide down, and nothing is laid out anew.
              style={{ transform: `translateY(${topOf(shown.first + index, open)}px)` }}
              aria-setsize={rows.length}
              aria-posinset={shown.first + index + 1}
            >
              <EventRow
                row={row}
                isOpen={row.key === openKey}
                isTabStop={row.key === stop}
                onToggle={toggle}
                detailsRef={details}
              />
            </li>
          ))}
        </ol>
      </div>
      {rows.length === MAX_ROWS && <End />}
    </div>
  );
}

function End() {
  return (
    <p className={styles.end}>
      The newest {count(MAX_ROWS)} are shown. The server keeps the older ones.
    </p>
  );
}

function neighbour(rows: readonly Row[], from: string, step: number): Row | undefined {
  let index = rows.findIndex((row) => row.key === from) + step;
  while (rows[index]?.kind === "gap") index += step;
  return rows[index];
}

interface View {
  scrollTop: number;
  viewportHeight: number;
  rowHeight: number;
}

function useViewport(box: React.RefObject<HTMLElement | null>, onView: (view: View) => void): void {
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const narrow = window.matchMedia(NARROW);
    const look = () => {
      const rowHeight = narrow.matches ? ROW_HEIGHT_NARROW : ROW_HEIGHT;
      element.style.setProperty("--row-height", `${rowHeight}px`);
      // A box without a height (a test, a collapsed page) still draws a screenful.
      const viewportHeight = element.clientHeight || 600;
      onView({ scrollTop: element.scrollTop, viewportHeight, rowHeight });
    };
    look();
    const resized = new ResizeObserver(look);
    resized.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [box, onView]);
}

/** A ref for the open row's details, and their height. */
function useHeight(): [(element: HTMLElement | null) => void, number] {
  const [height, setHeight] = useState(0);
  const observer = useRef<ResizeObserver>(undefined);
  const ref = useCallback((element: HTMLElement | null) => {
    observer.current?.disconnect();
    if (!element) return;
    setHeight(element.offsetHeight);
    observer.current = new ResizeObserver(() => setHeight(element.offsetHeight));
    observer.current.observe(element);
  }, []);
  return [ref, height];
}
