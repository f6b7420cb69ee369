/** A clock that is off by less shows the same words; an answer tells the time in whole seconds. */
const TOLERANCE_MS = 5_000;
/** An answer that was longer on its way says too little about the time. */
const QUICK_MS = 2_000;

let offsetMs = 0;

/**
 * The time of the server (epoch milliseconds). Everything that has a time got it there, so only
 * that clock tells how long ago something was; the one of this computer may be hours off.
 */
export function serverNow(): number {
  return Date.now() + offsetMs;
}

/** The time of the server as it writes it. */
export function serverTimestamp(): string {
  return new Date(serverNow()).toISOString();
}

/** Learns from the `Date` of an answer how far the clock of this computer is off. */
export function learnTime(date: string | null, tookMs: number): void {
  const told = Date.parse(date ?? "");
  if (Number.isNaN(told) || tookMs > QUICK_MS) return;
  const measured = told + 500 - Date.now();
  if (Math.abs(measured - offsetMs) <= TOLERANCE_MS) return;
  // A clock that is right is left alone: the `Date` is less exact than it.
  offsetMs = Math.abs(measured) <= TOLERANCE_MS ? 0 : measured;
}
