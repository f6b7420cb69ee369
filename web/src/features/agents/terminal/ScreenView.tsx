import { memo, type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import { windowOf } from "../../../ui/window";
import { useFollow } from "../detail/useFollow";
import { ColouredText } from "./ColouredText";
import type { Row } from "./grid";
import { runsOf } from "./runs";
import styles from "./ScreenView.module.css";
import type { Screen } from "./screen";

/** As in the style sheet: lines must have one height to be found without drawing all. */
const LINE_PX = 18;
const PADDING_PX = 10;
/** About how wide a letter is, before one was drawn. */
const CHAR_PX = 7.5;
const PROBE = "0".repeat(50);

interface ScreenViewProps {
  screen: Screen;
  label: string;
  hasControl: boolean;
  onSize: (columns: number, rows: number) => void;
  onPress: () => void;
  children?: React.ReactNode;
}

/** The lines of a shell: those in sight are drawn, and the end is followed until one scrolls up. */
export function ScreenView(props: ScreenViewProps) {
  const { screen, label, hasControl, onSize, onPress, children } = props;
  const { lines, cursor } = screen;
  const follow = useFollow(lines.length);
  const { box } = follow;
  const [view, setView] = useState({ top: Number.MAX_SAFE_INTEGER, height: 600 });
  const charPx = useFit(box, onSize, (height) => setView((old) => ({ ...old, height })));
  const { first, end, offset, total } = windowOf({
    count: lines.length,
    rowHeight: LINE_PX,
    scrollTop: follow.isFollowing ? Number.MAX_SAFE_INTEGER : view.top,
    viewportHeight: view.height,
    openIndex: -1,
    openHeight: 0,
  });
  // A lower box would hide the last line.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another height is the reason to scroll
  useLayoutEffect(() => {
    if (follow.isFollowing && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [view.height, total]);
  const onScroll = () => {
    follow.onScroll();
    if (box.current) setView({ top: box.current.scrollTop, height: box.current.clientHeight });
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys go to the field inside
    <section
      ref={box}
      className={styles.screen}
      data-control={hasControl || undefined}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by key
      tabIndex={0}
      onScroll={onScroll}
      onClick={() => {
        // Who marks text wants to copy it, not to type.
        if (window.getSelection()?.isCollapsed ?? true) onPress();
      }}
    >
      <span className={styles.probe} aria-hidden="true" data-probe="">
        {PROBE}
      </span>
      <div className={styles.lines} style={{ height: total }}>
        <div className={styles.drawn} style={{ translate: `0 ${offset}px` }}>
          {lines.slice(first, end).map((row) => (
            <Line key={row.id} row={row} version={row.version} />
          ))}
        </div>
        {cursor.isShown && (
          <span
            className={styles.cursor}
            data-cursor=""
            style={{
              width: charPx,
              translate: `${cursor.column * charPx}px ${cursor.line * LINE_PX}px`,
            }}
          />
        )}
      </div>
      {children}
      <follow.Jump />
    </section>
  );
}

/** A line is drawn again only if something in it changed. */
const Line = memo(function Line({ row }: { row: Row; version: number }) {
  return (
    <div className={styles.line}>
      <ColouredText runs={runsOf(row)} />
    </div>
  );
});

/** About how many characters and lines have room in a box. */
export function roomIn(width: number, height: number, charPx = CHAR_PX) {
  return {
    columns: clamp((width - 2 * PADDING_PX) / charPx, 20, 400),
    rows: clamp((height - 2 * PADDING_PX) / LINE_PX, 4, 200),
  };
}

/** Measures how many characters and lines there is room for, now and whenever that changes. */
function useFit(
  box: RefObject<HTMLElement | null>,
  onSize: (columns: number, rows: number) => void,
  onHeight: (height: number) => void,
): number {
  const [charPx, setCharPx] = useState(CHAR_PX);
  const measure = useRef(() => {});
  useLayoutEffect(() => {
    measure.current = () => {
      const probe = box.current?.querySelector("[data-probe]");
      if (!box.current || !probe) return;
      const width = probe.getBoundingClientRect().width / PROBE.length;
      if (!(width > 0)) return;
      const { clientWidth, clientHeight } = box.current;
      setCharPx(width);
      onHeight(clientHeight);
      const { columns, rows } = roomIn(clientWidth, clientHeight, width);
      onSize(columns, rows);
    };
  });
  useEffect(() => {
    if (!box.current || typeof ResizeObserver === "undefined") return;
    const observer = new ResizeObserver(() => measure.current());
    observer.observe(box.current);
    document.fonts?.ready.then(() => measure.current());
    return () => observer.disconnect();
  }, [box]);
  return charPx;
}

function clamp(value: number, low: number, high: number): number {
  return Math.floor(Math.min(high, Math.max(low, value)));
}
