import {
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { type FlowItem, offsetsOf, rowAt, rowsInView } from "./flow";

/** A box without a height (a test, a hidden pane) still draws a screenful. */
const FALLBACK_HEIGHT = 600;

export interface Flow {
  offsets: Float64Array;
  first: number;
  end: number;
  total: number;
  /** Watches how high a row is; returns how to stop. */
  measure: Measure;
  /** Brings a row into view, below what sticks to the top. */
  show: (index: number, below: number) => void;
}

/** Draws only those of many rows that are in view, whatever their heights are. */
export function useFlow(
  box: RefObject<HTMLElement | null>,
  items: readonly FlowItem[],
  { holdsTop = false }: { holdsTop?: boolean } = {},
): Flow {
  const [view, setView] = useState({ top: 0, height: FALLBACK_HEIGHT });
  const [measured, setMeasured] = useState<Measured>(() => new Map());
  const offsets = useMemo(() => offsetsOf(items, measured), [items, measured]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => {
      const next = { top: element.scrollTop, height: element.clientHeight || FALLBACK_HEIGHT };
      setView((now) => (now.top === next.top && now.height === next.height ? now : next));
    };
    look();
    const resized = new ResizeObserver(look);
    resized.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [box]);
  const measure = useMeasure(setMeasured);
  useHold(box, items, offsets, holdsTop);
  const show = useCallback(
    (index: number, below: number) => {
      const element = box.current;
      const top = offsets[index];
      if (!element || top === undefined) return;
      const room = element.clientHeight;
      const isAbove = top < element.scrollTop + below;
      const isBelow = top > element.scrollTop + room - room / 3;
      if (isAbove || isBelow) element.scrollTop = Math.max(0, top - below);
    },
    [box, offsets],
  );
  return { offsets, ...rowsInView(offsets, view), total: offsets.at(-1) ?? 0, measure, show };
}

type Measured = ReadonlyMap<string, number>;
type Measure = (element: HTMLElement, item: FlowItem) => () => void;

/** One observer for all rows; a height is kept by the key of its row if it is not as expected. */
function useMeasure(setMeasured: (change: (now: Measured) => Measured) => void): Measure {
  const items = useRef(new WeakMap<Element, FlowItem>());
  const observer = useRef<ResizeObserver>(undefined);
  useEffect(
    () => () => {
      observer.current?.disconnect();
      observer.current = undefined;
    },
    [],
  );
  return useCallback(
    (element, item) => {
      observer.current ??= new ResizeObserver((entries) => {
        const seen = entries.flatMap(({ target, borderBoxSize }) => {
          const row = items.current.get(target);
          const height = borderBoxSize?.[0]?.blockSize ?? 0;
          return row && height > 0 && target.isConnected ? [{ row, height }] : [];
        });
        setMeasured((now) => {
          const isNews = ({ row, height }: (typeof seen)[number]) =>
            Math.abs((now.get(row.key) ?? row.estimate) - height) > 0.5;
          const news = seen.filter(isNews).map(({ row, height }) => [row.key, height] as const);
          return news.length === 0 ? now : new Map([...now, ...news]);
        });
      });
      const watching = observer.current;
      items.current.set(element, item);
      watching.observe(element);
      return () => watching.unobserve(element);
    },
    [setMeasured],
  );
}

/**
 * Keeps the first row in sight where it is when rows above it come, or turn out higher or lower; at the
 * very top only if what comes there is older, as in a log.
 */
function useHold(
  box: RefObject<HTMLElement | null>,
  items: readonly FlowItem[],
  offsets: Float64Array,
  holdsTop: boolean,
): void {
  const held = useRef<{ key: string; gap: number } | undefined>(undefined);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const { current } = held;
    if (current && (holdsTop || element.scrollTop > 0)) {
      const index = items.findIndex((item) => item.key === current.key);
      const wanted = index < 0 ? undefined : (offsets[index] ?? 0) + current.gap;
      if (wanted !== undefined && Math.abs(wanted - element.scrollTop) >= 1) {
        element.scrollTop = wanted;
      }
    }
    const keep = () => {
      const first = rowAt(offsets, element.scrollTop);
      const item = items[first];
      held.current = item && { key: item.key, gap: element.scrollTop - (offsets[first] ?? 0) };
    };
    keep();
    element.addEventListener("scroll", keep, { passive: true });
    return () => element.removeEventListener("scroll", keep);
  }, [box, items, offsets, holdsTop]);
}
