/** Where days begin: in the zone of budgets and reports, or in that of the reader. */
export const ZONES = ["utc", "local"] as const;
export type Zone = (typeof ZONES)[number];

/** The name of the zone of the reader, as the server knows it. */
export const localZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

export const PRESETS = ["24h", "7d", "30d", "90d", "month"] as const;
export type Preset = (typeof PRESETS)[number];

type Step = "hour" | "day";

/** One time for all panels, cut into hours or days. */
export interface Range {
  step: Step;
  /** The names of its parts, such as `2026-11-16` or `2026-11-16T14`. */
  buckets: readonly string[];
  /** From this moment on, in milliseconds. */
  start: number;
  /** Up to this moment, which is no longer part of it. */
  end: number;
}

interface Asked {
  preset: Preset;
  from?: string | undefined;
  to?: string | undefined;
}

const HOUR_MS = 3_600_000;
const DAYS: Record<Exclude<Preset, "24h" | "month">, number> = { "7d": 7, "30d": 30, "90d": 90 };
/** More would be lines too thin to see. */
const MOST = 400;

/** Reads a range from the address; what makes no sense there counts as the preset. */
export function rangeOf(asked: Asked, zone: Zone, now: number): Range {
  const from = asked.from === undefined ? undefined : startOf(asked.from, zone);
  const to = asked.to === undefined ? undefined : startOf(asked.to, zone);
  if (from !== undefined && to !== undefined && asked.from?.length === asked.to?.length) {
    const step = asked.from?.length === 13 ? "hour" : "day";
    const range = build(step, from, next(to, step, zone), zone);
    if (range.buckets.length > 0) return range;
  }
  return preset(asked.preset, zone, now);
}

/** Which part of a range a moment is in. */
export function bucketOf(at: number, step: Step, zone: Zone): string {
  const { year, month, day, hour } = parts(at, zone);
  const two = (value: number) => String(value).padStart(2, "0");
  const date = `${year}-${two(month + 1)}-${two(day)}`;
  return step === "day" ? date : `${date}T${two(hour)}`;
}

/** The fields of the address for a part of a range; one day alone is shown by the hour. */
export function zoomed(range: Range, first: number, last: number): { from: string; to: string } {
  const from = range.buckets[Math.min(first, last)] ?? "";
  const to = range.buckets[Math.max(first, last)] ?? "";
  if (range.step === "day" && from === to) return { from: `${from}T00`, to: `${to}T23` };
  return { from, to };
}

/** `16 Nov`, `14:00`: the name of a part for people. */
export function bucketTitle(bucket: string): string {
  const [date = "", hour] = bucket.split("T");
  const [year, month, day] = date.split("-").map(Number);
  const text = new Date(Date.UTC(year ?? 0, (month ?? 1) - 1, day ?? 1)).toLocaleDateString(
    "en-GB",
    { day: "numeric", month: "short", timeZone: "UTC" },
  );
  return hour === undefined ? text : `${text}, ${hour}:00`;
}

function preset(name: Preset, zone: Zone, now: number): Range {
  if (name === "24h") {
    const end = Math.floor(now / HOUR_MS) * HOUR_MS + HOUR_MS;
    return build("hour", end - 24 * HOUR_MS, end, zone);
  }
  const { year, month, day } = parts(now, zone);
  const end = moment(year, month, day + 1, 0, zone);
  const first = name === "month" ? 1 : day + 1 - DAYS[name];
  return build("day", moment(year, month, first, 0, zone), end, zone);
}

function build(step: Step, start: number, end: number, zone: Zone): Range {
  const buckets: string[] = [];
  let at = start;
  for (; at < end && buckets.length < MOST; at = next(at, step, zone)) {
    const name = bucketOf(at, step, zone);
    // An hour that comes twice, when clocks go back, is one part.
    if (buckets.at(-1) !== name) buckets.push(name);
  }
  return { step, buckets, start, end: at };
}

function next(at: number, step: Step, zone: Zone): number {
  if (step === "hour") return at + HOUR_MS;
  const { year, month, day } = parts(at, zone);
  return moment(year, month, day + 1, 0, zone);
}

function startOf(bucket: string, zone: Zone): number | undefined {
  const found = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d))?$/.exec(bucket);
  if (!found) return undefined;
  const [year, month, day, hour] = found.slice(1).map((text) => Number(text ?? 0));
  const at = moment(year ?? 0, (month ?? 1) - 1, day ?? 1, hour ?? 0, zone);
  return Number.isNaN(at) ? undefined : at;
}

function parts(at: number, zone: Zone) {
  const date = new Date(at);
  return zone === "utc"
    ? {
        year: date.getUTCFullYear(),
        month: date.getUTCMonth(),
        day: date.getUTCDate(),
        hour: date.getUTCHours(),
      }
    : {
        year: date.getFullYear(),
        month: date.getMonth(),
        day: date.getDate(),
        hour: date.getHours(),
      };
}

function moment(year: number, month: number, day: number, hour: number, zone: Zone): number {
  return zone === "utc"
    ? Date.UTC(year, month, day, hour)
    : new Date(year, month, day, hour).getTime();
}
