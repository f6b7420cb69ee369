/** Rows drawn above and below the visible part. */
const OVERSCAN = 5;

export interface Geometry {
  count: number;
  rowHeight: number;
  scrollTop: number;
  viewportHeight: number;
  /** Index of the one open row, or -1, and the height of its details. */
  openIndex: number;
  openHeight: number;
}

/** The slice of rows to draw, where it starts, and how high the whole list is. */
export interface Window {
  first: number;
  end: number;
  offset: number;
  total: number;
}

/** Finds which rows are in view: all rows have one height, at most one is open. */
export function windowOf(geometry: Geometry): Window {
  const { count, rowHeight, scrollTop, viewportHeight, openIndex } = geometry;
  const openHeight = openIndex >= 0 && openIndex < count ? geometry.openHeight : 0;
  const indexAt = (y: number) => {
    const openEnd = (openIndex + 1) * rowHeight;
    if (openHeight === 0 || y < openEnd) return Math.floor(y / rowHeight);
    return Math.max(openIndex, Math.floor((y - openHeight) / rowHeight));
  };
  const total = count * rowHeight + openHeight;
  const top = Math.min(Math.max(0, scrollTop), Math.max(0, total - viewportHeight));
  const first = Math.max(0, indexAt(top) - OVERSCAN);
  const end = Math.min(count, indexAt(top + viewportHeight) + 1 + OVERSCAN);
  return { first, end, offset: topOf(first, geometry), total };
}

/** Where a row begins. */
export function topOf(
  index: number,
  { rowHeight, openIndex, openHeight }: Pick<Geometry, "rowHeight" | "openIndex" | "openHeight">,
): number {
  return index * rowHeight + (openIndex >= 0 && index > openIndex ? openHeight : 0);
}
