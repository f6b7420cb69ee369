import type { Cell, Split } from "./spend";

/** One band of the chart. */
export interface Series {
  key: string;
  title: string;
  /** Millionths of a dollar in each part of the range. */
  values: number[];
  total: number;
  /** Which colour of the series; 0 stands for the rest. */
  colour: number;
}

/** What does not fit into the colours is one band. */
export const REST = "*";
const BANDS = 6;

/** Cells as bands, the largest at the bottom, the small ones together on top. */
export function seriesOf(
  cells: readonly Cell[],
  splits: readonly Split[],
  buckets: readonly string[],
  titleOf: (key: string) => string,
): Series[] {
  const paid = splits.filter(({ totals }) => totals.costMicros > 0);
  const isAll = paid.length <= BANDS;
  const own = isAll ? paid : paid.slice(0, BANDS - 1);
  const place = new Map(buckets.map((bucket, at) => [bucket, at]));
  const empty = () => buckets.map(() => 0);
  const bands = own.map(({ key }, at) => ({
    key,
    title: titleOf(key),
    values: empty(),
    total: 0,
    colour: at + 1,
  }));
  const rest = { key: REST, title: "All others", values: empty(), total: 0, colour: 0 };
  const byKey = new Map(bands.map((band) => [band.key, band]));
  for (const { bucket, key, totals } of cells) {
    const at = place.get(bucket);
    if (at === undefined) continue;
    const band = byKey.get(key) ?? rest;
    band.values[at] = (band.values[at] ?? 0) + totals.costMicros;
    band.total += totals.costMicros;
  }
  return isAll ? bands : [...bands, rest];
}

/** A band between two lines, in steps: each part of the range is as wide as the others. */
export interface Band {
  lower: number[];
  upper: number[];
}

/** Bands on top of each other. */
export function stack(series: readonly Pick<Series, "values">[]): Band[] {
  let lower: number[] = series[0]?.values.map(() => 0) ?? [];
  return series.map(({ values }) => {
    const upper = values.map((value, at) => value + (lower[at] ?? 0));
    const band = { lower, upper };
    lower = upper;
    return band;
  });
}

/** The outline of a band as a path. */
export function outline(
  { lower, upper }: Band,
  x: (at: number) => number,
  y: (v: number) => number,
) {
  const there = upper.map((value, at) => `${x(at)},${y(value)} ${x(at + 1)},${y(value)}`);
  const back = lower.map((value, at) => `${x(at + 1)},${y(value)} ${x(at)},${y(value)}`);
  return `M${there.join(" ")} ${back.toReversed().join(" ")}Z`;
}

/** A round number at or above a value, of which the half is round too. */
export function ceiling(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 4, 6, 8, 10].find((one) => one * power >= value) ?? 10;
  return step * power;
}
