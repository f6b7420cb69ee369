/** One row of a long page; rows have different heights. */
export interface FlowItem {
  key: string;
  /** Its height until it was measured. */
  estimate: number;
}

/** Where each row begins; the last number is the end of all. */
export function offsetsOf(
  items: readonly FlowItem[],
  measured: ReadonlyMap<string, number>,
): Float64Array {
  const offsets = new Float64Array(items.length + 1);
  let at = 0;
  for (const [index, item] of items.entries()) {
    offsets[index] = at;
    at += measured.get(item.key) ?? item.estimate;
  }
  offsets[items.length] = at;
  return offsets;
}

/** The row at a height: the last one that begins at or above it. */
export function rowAt(offsets: Float64Array, y: number): number {
  let low = 0;
  let high = Math.max(0, offsets.length - 2);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((offsets[middle] ?? 0) <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** More than a screen of rows is drawn, so that scrolling shows no holes; this many pixels. */
const OVERSCAN = 320;

/** The rows that are drawn: `first` up to, but without, `end`. */
export function rowsInView(
  offsets: Float64Array,
  view: { top: number; height: number },
): { first: number; end: number } {
  const count = offsets.length - 1;
  if (count <= 0) return { first: 0, end: 0 };
  return {
    first: rowAt(offsets, Math.max(0, view.top - OVERSCAN)),
    end: Math.min(count, rowAt(offsets, view.top + view.height + OVERSCAN) + 1),
  };
}
