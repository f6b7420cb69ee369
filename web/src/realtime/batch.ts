import type { GodelEvent } from "../api/types";

/** A hidden page draws no frames; its events are still taken in, this often. */
const HIDDEN_FLUSH_MS = 250;

/**
 * Collects events and hands them over at most once per drawn frame, so that a thousand events a
 * second cost sixty updates. Only the newest `limit` are kept; `total` counts all.
 */
export class FrameBatch {
  readonly #limit: number;
  readonly #flush: (events: GodelEvent[], total: number) => void;
  #events: GodelEvent[] = [];
  #total = 0;
  #cancel: (() => void) | undefined;

  constructor(limit: number, flush: (events: GodelEvent[], total: number) => void) {
    this.#limit = limit;
    this.#flush = flush;
  }

  push(events: GodelEvent[]): void {
    this.#total += events.length;
    for (const event of events) this.#events.push(event);
    if (this.#events.length > 2 * this.#limit) this.#events = this.#events.slice(-this.#limit);
    this.#cancel ??= onNextFrame(() => this.flush());
  }

  /** Hands over what waits, now. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#total === 0) return;
    const events = this.#events.slice(-this.#limit);
    const total = this.#total;
    this.#events = [];
    this.#total = 0;
    this.#flush(events, total);
  }

  /** Forgets what waits. */
  clear(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#events = [];
    this.#total = 0;
  }
}

function onNextFrame(act: () => void): () => void {
  const frame = requestAnimationFrame(act);
  const timer = setTimeout(act, HIDDEN_FLUSH_MS);
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
}
