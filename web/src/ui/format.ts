const CLOCK = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
});
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const SHORT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const COUNT = new Intl.NumberFormat("en-US");
/** Made once: a table has an amount in every line, and making one takes longer than using it. */
const AMOUNTS = { 2: amountsOf(2), 4: amountsOf(4) } as const;
const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"];

function amountsOf(digits: number): Intl.NumberFormat {
  return new Intl.NumberFormat("en-US", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** `14:02:11.042`, in the reader's time zone. */
export function clockTime(timestamp: string): string {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? "no time" : CLOCK.format(date);
}

/** The whole date, for a tooltip. */
export function fullTime(timestamp: string): string {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? timestamp : FULL.format(date);
}

/** Day and minute, such as `16 Nov 2026, 02:51`. */
export function shortTime(timestamp: string): string {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? timestamp : SHORT.format(date);
}

/** `12,408` */
export function count(value: number): string {
  return COUNT.format(value);
}

/** `1 event`, `2 events` */
export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** `212 GB`, in powers of 1,000 as disks are sold. */
export function bytes(value: number): string {
  const power = value < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(value) / 3));
  const amount = value / 1000 ** power;
  return `${amount >= 100 || power === 0 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[power]}`;
}

/** `0.42 ms`, `12 ms`, `1.3 s` */
export function latency(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms >= 10 ? Math.round(ms) : ms.toFixed(ms < 1 ? 2 : 1)} ms`;
}

/** How long to wait, never too short: `1 second`, `90 seconds`, `3 minutes`. */
export function waiting(seconds: number): string {
  if (seconds > 120) return plural(Math.ceil(seconds / 60), "minute");
  return plural(Math.max(1, Math.ceil(seconds)), "second");
}

/** The name of a field for people: `Project id` for `projectId`. */
export function words(name: string): string {
  const text = name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_-]/g, " ");
  return (text[0] ?? "").toUpperCase() + text.slice(1).toLowerCase();
}

const AGES: readonly (readonly [number, string])[] = [
  [86_400 * 365, "y"],
  [86_400 * 30, "mo"],
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
];

/** How long ago, or in how long: `now`, `42s ago`, `3h ago`, `in 5m`. */
export function relativeTime(timestamp: string, now: number): string {
  const at = Date.parse(timestamp);
  if (Number.isNaN(at)) return "no time";
  const seconds = Math.round((now - at) / 1000);
  if (Math.abs(seconds) < 5) return "now";
  const text = duration(Math.abs(seconds));
  return seconds > 0 ? `${text} ago` : `in ${text}`;
}

/** A length of time in one unit: `42s`, `5m`, `3h`, `12d`. */
export function duration(seconds: number): string {
  const [length, unit] = AGES.find(([size]) => seconds >= size) ?? [1, "s"];
  return `${Math.floor(seconds / length)}${unit}`;
}

/** Money from millionths of a dollar: `$12.40`, below a dollar `$0.0042`. */
export function money(micros: number): string {
  const dollars = micros / 1_000_000;
  const digits = Math.abs(dollars) < 1 && micros !== 0 ? 4 : 2;
  return `${dollars < 0 ? "-" : ""}$${AMOUNTS[digits].format(Math.abs(dollars))}`;
}

/** Millionths of a dollar as dollars, to the last digit: `0.000185`. */
export function dollars(micros: number): string {
  const digits = String(Math.abs(micros)).padStart(7, "0");
  return `${micros < 0 ? "-" : ""}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

/** The part of an id that people tell apart: `4k2hm` of `godel-4k2hm`, the end of a uuid. */
export function shortId(id: string): string {
  if (/^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(id)) return id.slice(-8);
  return id.length > 24 ? `${id.slice(0, 10)}…${id.slice(-8)}` : id;
}

/** `14:02:11`, in the reader's time zone. */
export function wallClock(at: number): string {
  return clockTime(new Date(at).toISOString()).slice(0, 8);
}

/** A word for a shell, quoted if it needs to be: names and values are what somebody else wrote. */
export function shellWord(text: string): string {
  return /^[\w./=:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
