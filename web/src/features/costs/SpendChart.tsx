import { type KeyboardEvent, type PointerEvent, useLayoutEffect, useRef, useState } from "react";
import { money } from "../../ui/format";
import { bucketTitle } from "./range";
import styles from "./SpendChart.module.css";
import { ceiling, outline, type Series, stack } from "./stack";

interface SpendChartProps {
  series: readonly Series[];
  buckets: readonly string[];
  /** Shows only what is between two parts of the range. */
  onZoom: (first: number, last: number) => void;
}

const HEIGHT = 220;
const LEFT = 64;
const TOP = 10;
const BOTTOM = 26;
/** A page without a size, such as in a test, still draws. */
const FALLBACK_WIDTH = 720;
/** About so much room has a label below. */
const LABEL_WIDTH = 84;

/** Bands on top of each other. Drag, or Shift with the arrows and Enter, shows a part of it. */
export function SpendChart({ series, buckets, onZoom }: SpendChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const bands = stack(series);
  const top = ceiling(Math.max(0, ...(bands.at(-1)?.upper ?? [])));
  const x = (at: number) => LEFT + ((width - LEFT) * at) / Math.max(1, buckets.length);
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  const { span, at, handlers } = useSelection({ buckets, box, width, onZoom });
  return (
    <div ref={box} className={styles.box}>
      <svg
        className={styles.chart}
        width={width}
        height={HEIGHT}
        role="application"
        aria-roledescription="chart"
        aria-label={`Spending, ${buckets.length} parts. Arrows look at one, Shift marks several, Enter shows them alone.`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrows move through it
        tabIndex={0}
        {...handlers}
      >
        <Axes top={top} buckets={buckets} width={width} x={x} y={y} />
        {bands.map((band, index) => (
          <path
            key={series[index]?.key}
            className={styles.band}
            data-colour={series[index]?.colour}
            d={outline(band, x, y)}
          />
        ))}
        {span && (
          <rect
            className={styles.span}
            x={x(span.first)}
            y={TOP}
            width={x(span.last + 1) - x(span.first)}
            height={HEIGHT - TOP - BOTTOM}
          />
        )}
      </svg>
      {at !== undefined && buckets[at] && (
        <Tip series={series} bucket={buckets[at]} at={at} left={x(at + 0.5)} width={width} />
      )}
    </div>
  );
}

function Axes({
  top,
  buckets,
  width,
  x,
  y,
}: {
  top: number;
  buckets: readonly string[];
  width: number;
  x: (at: number) => number;
  y: (value: number) => number;
}) {
  const every = Math.max(1, Math.ceil((buckets.length * LABEL_WIDTH) / (width - LEFT)));
  return (
    <g>
      {[0, top / 2, top].map((value) => (
        <g key={value}>
          <line className={styles.grid} x1={LEFT} x2={width} y1={y(value)} y2={y(value)} />
          <text className={styles.label} x={LEFT - 8} y={y(value) + 4} textAnchor="end">
            {money(value)}
          </text>
        </g>
      ))}
      {buckets.map((bucket, at) =>
        at % every === 0 && x(at) + LABEL_WIDTH <= width + LABEL_WIDTH / 2 ? (
          <text key={bucket} className={styles.label} x={x(at)} y={HEIGHT - 8}>
            {bucketTitle(bucket).split(", ").at(-1)}
          </text>
        ) : null,
      )}
    </g>
  );
}

function Tip({
  series,
  bucket,
  at,
  left,
  width,
}: {
  series: readonly Series[];
  bucket: string;
  at: number;
  left: number;
  width: number;
}) {
  const paid = series.filter(({ values }) => (values[at] ?? 0) > 0).toReversed();
  const sum = paid.reduce((all, { values }) => all + (values[at] ?? 0), 0);
  return (
    <div
      className={styles.tip}
      role="status"
      style={{ left: Math.max(4, left > width / 2 ? left - 236 : left + 16) }}
    >
      <p className={styles.tipHead}>
        <span>{bucketTitle(bucket)}</span>
        <span className="tabular">{money(sum)}</span>
      </p>
      {paid.map(({ key, title, values, colour }) => (
        <p key={key} className={styles.tipLine}>
          <span className={styles.dot} data-colour={colour} />
          <span className={styles.tipName}>{title}</span>
          <span className="tabular">{money(values[at] ?? 0)}</span>
        </p>
      ))}
    </div>
  );
}

interface Span {
  first: number;
  last: number;
}

function useSelection({
  buckets,
  box,
  width,
  onZoom,
}: Pick<SpendChartProps, "buckets" | "onZoom"> & {
  box: React.RefObject<HTMLDivElement | null>;
  width: number;
}) {
  const [at, setAt] = useState<number>();
  const [anchor, setAnchor] = useState<number>();
  const last = buckets.length - 1;
  const clear = () => {
    setAt(undefined);
    setAnchor(undefined);
  };
  const under = (event: PointerEvent) => {
    const left = event.clientX - (box.current?.getBoundingClientRect().left ?? 0) - LEFT;
    const part = Math.floor((left / Math.max(1, width - LEFT)) * buckets.length);
    return Math.min(last, Math.max(0, part));
  };
  const zoom = (from: number, to: number) => {
    clear();
    onZoom(Math.min(from, to), Math.max(from, to));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) {
      const next = at === undefined ? (step > 0 ? 0 : last) : at + step;
      if (event.shiftKey) setAnchor(anchor ?? at ?? next);
      else setAnchor(undefined);
      setAt(Math.min(last, Math.max(0, next)));
    } else if (event.key === "Enter" && at !== undefined) zoom(anchor ?? at, at);
    else if (event.key === "Escape" && at !== undefined) clear();
    else return;
    event.preventDefault();
  };
  const span: Span | undefined =
    at === undefined
      ? undefined
      : { first: Math.min(anchor ?? at, at), last: Math.max(anchor ?? at, at) };
  const handlers = {
    onKeyDown,
    onBlur: clear,
    onPointerDown: (event: PointerEvent) => {
      event.currentTarget.setPointerCapture(event.pointerId);
      setAnchor(under(event));
      setAt(under(event));
    },
    onPointerMove: (event: PointerEvent) => setAt(under(event)),
    onPointerUp: (event: PointerEvent) => {
      const end = under(event);
      // A click alone looks at a part; only a drag means to zoom.
      if (anchor !== undefined && anchor !== end) zoom(anchor, end);
      else setAnchor(undefined);
    },
    onPointerLeave: () => anchor === undefined && setAt(undefined),
    onDoubleClick: () => at !== undefined && zoom(at, at),
  };
  return { span, at, handlers };
}

function useWidth(box: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(FALLBACK_WIDTH);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => setWidth(element.clientWidth || FALLBACK_WIDTH);
    look();
    const resized = new ResizeObserver(look);
    resized.observe(element);
    return () => resized.disconnect();
  }, [box]);
  return width;
}
