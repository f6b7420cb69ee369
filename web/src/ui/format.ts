const CLOCK = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
});
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const SHORT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const COUNT = new Intl.NumberFormat("en-US");
const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"];

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
