import type { GodelEvent } from "../../api/types";

export const RATE_WINDOW_SECS = 60;

/** Counts events by the second in which they happened, for the last minute. */
export class RateMeter {
  #buckets = new Map<number, number>();

  add(events: GodelEvent[], now: number): void {
    const current = Math.floor(now / 1000);
    for (const event of events) {
      const second = Math.floor(Date.parse(event.timestamp) / 1000);
      // A server clock that runs ahead (or no clock at all) counts as now.
      const bucket = Number.isNaN(second) ? current : Math.min(second, current);
      if (current - bucket > RATE_WINDOW_SECS) continue;
      this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + 1);
    }
  }

  /** Counts per second, oldest first, without the second that is still running. */
  series(now: number): number[] {
    const current = Math.floor(now / 1000);
    for (const second of this.#buckets.keys()) {
      if (current - second > RATE_WINDOW_SECS) this.#buckets.delete(second);
    }
    return Array.from(
      { length: RATE_WINDOW_SECS },
      (_, index) => this.#buckets.get(current - RATE_WINDOW_SECS + index) ?? 0,
    );
  }

  clear(): void {
    this.#buckets.clear();
  }
}
