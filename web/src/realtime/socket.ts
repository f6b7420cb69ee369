import { serverNow, serverTimestamp } from "../api/clock";
import type { GodelEvent } from "../api/types";
import { backoffDelay } from "./backoff";
import {
  type ClientFrame,
  type Gap,
  parseFrame,
  type Refusal,
  type ServerFrame,
  SUBPROTOCOL,
  type SubscribeRequest,
} from "./protocol";

/** What the connection is doing, for people. */
export type Connection =
  | { phase: "connecting" }
  | { phase: "live" }
  /** The server is reachable but said no to the subscription. */
  | { phase: "refused"; refusal: Refusal }
  /** Down; the next try is at `retryAt` (epoch milliseconds). */
  | { phase: "reconnecting"; retryAt: number }
  /** Down for several tries; still trying, less often. */
  | { phase: "offline"; retryAt: number };

/** The part of the browser's WebSocket this class needs. */
export interface Wire {
  onopen: ((event: unknown) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: unknown) => void) | null;
  send(text: string): void;
  close(): void;
}

export interface EventSocketOptions {
  url: string;
  pattern: string;
  /** How many past sequence numbers to ask for when the stream starts or its pattern changes. */
  history?: number;
  onEvents: (events: GodelEvent[]) => void;
  onGap: (gap: Gap) => void;
  /** The server's log starts over (a new database): earlier events mean nothing now. */
  onReset: () => void;
  onConnection: (connection: Connection) => void;
  /** The server says that nothing was sent which is not here. */
  onFresh?: () => void;
  /** The edges, replaced in tests. */
  connect?: (url: string, protocol: string) => Wire;
  random?: () => number;
}

export const PING_EVERY_MS = 30_000;
export const PONG_WITHIN_MS = 10_000;
export const ANSWER_WITHIN_MS = 10_000;
/** A connection that lived this long ends the backoff. */
export const STABLE_AFTER_MS = 5_000;
/** After so many failed tries in a row the page says "offline". */
export const OFFLINE_AFTER_TRIES = 5;

/**
 * A live tail of the event log that survives lost connections.
 *
 * Every event of the pattern is handed over once and in order: after a reconnect the stream
 * resumes behind the last sequence seen, and what arrives twice is dropped. With the pattern `*`
 * the numbers have no gaps, so a silent loss is noticed and asked for again.
 */
export class EventSocket {
  readonly #options: EventSocketOptions;
  readonly #history: number;
  #pattern: string;
  #wire: Wire | undefined;
  #stopped = true;
  #failures = 0;
  #liveSince: number | undefined;
  #retryTimer: Timer;
  #answerTimer: Timer;
  #pingTimer: Timer;
  #pongTimer: Timer;

  /** Last sequence handed over; undefined until the server told us its head. */
  #cursor: number | undefined;
  /** Highest sequence known to exist. */
  #head = 0;
  /** Up to here events are history: what retention removed was never ours to lose. */
  #historyEnd = 0;
  #subscriptionId: string | undefined;
  #pendingId: string | undefined;
  /** The cursor at which a silent gap was already asked for again. */
  #recoveredAt: number | undefined;
  /** The end of what was sent that was already asked for again. */
  #missedHead: number | undefined;
  #frames = 0;

  constructor(options: EventSocketOptions) {
    this.#options = options;
    this.#history = options.history ?? 0;
    this.#pattern = options.pattern;
  }

  /** Up to this sequence events were there before this page; they are for reading, not for acting. */
  get historyEnd(): number {
    return this.#historyEnd;
  }

  start(): void {
    if (!this.#stopped) return;
    this.#stopped = false;
    this.#open();
  }

  stop(): void {
    this.#stopped = true;
    this.#hangUp();
    clearTimeout(this.#retryTimer);
  }

  /** Skips the waiting time, if any. */
  retryNow(): void {
    if (this.#stopped || this.#wire) return;
    clearTimeout(this.#retryTimer);
    this.#open();
  }

  /** Follows another pattern; recent events that match it are sent again. */
  setPattern(pattern: string): void {
    if (pattern === this.#pattern) return;
    this.#pattern = pattern;
    if (this.#cursor !== undefined) this.#rewind(this.#head);
    if (this.#subscriptionId || this.#pendingId || this.#liveSince) this.#subscribe();
  }

  #open(): void {
    this.#options.onConnection({ phase: "connecting" });
    const wire = (this.#options.connect ?? openWebSocket)(this.#options.url, SUBPROTOCOL);
    this.#wire = wire;
    this.#expectAnswer();
    wire.onopen = () => this.#ifCurrent(wire, () => this.#subscribe());
    wire.onmessage = ({ data }) => this.#ifCurrent(wire, () => this.#receive(data));
    wire.onclose = () => this.#ifCurrent(wire, () => this.#lost());
  }

  #ifCurrent(wire: Wire, act: () => void): void {
    if (wire === this.#wire) act();
  }

  #receive(data: unknown): void {
    clearTimeout(this.#pongTimer);
    if (typeof data !== "string") return;
    const frame = parseFrame(data);
    switch (frame.type) {
      case "subscribed":
        this.#subscribed(frame);
        break;
      case "refused":
        this.#refused(frame);
        break;
      case "events":
        if (this.#isOurs(frame.subscriptionId)) this.#deliver(frame.events);
        break;
      case "lagged":
        if (this.#isOurs(frame.subscriptionId)) this.#lagged(frame.gap);
        break;
      case "pong":
        this.#checkHead(frame.head);
        break;
      case "other":
        break;
    }
  }

  #isOurs(subscriptionId: string | undefined): boolean {
    if (this.#subscriptionId === undefined) return false;
    return subscriptionId === undefined || subscriptionId === this.#subscriptionId;
  }

  #subscribe(): void {
    if (this.#subscriptionId) this.#unsubscribe(this.#subscriptionId);
    this.#subscriptionId = undefined;
    const payload: SubscribeRequest = { patterns: [this.#pattern], policy: "block" };
    if (this.#cursor !== undefined) payload.after = this.#cursor;
    this.#pendingId = this.#send("subscribe", payload);
    this.#expectAnswer();
  }

  #unsubscribe(subscriptionId: string): void {
    this.#send("unsubscribe", { subscriptionId });
  }

  #subscribed({ replyTo, subscriptionId, head }: ServerFrame & { type: "subscribed" }): void {
    if (replyTo !== this.#pendingId) {
      this.#unsubscribe(subscriptionId);
      return;
    }
    this.#pendingId = undefined;
    this.#subscriptionId = subscriptionId;
    clearTimeout(this.#answerTimer);
    if (this.#cursor === undefined) {
      // This answer only tells where the log ends; history starts a bit before that.
      this.#rewind(head);
      if (this.#cursor !== head) {
        this.#subscribe();
        return;
      }
    }
    this.#head = Math.max(this.#head, head);
    this.#live();
  }

  #rewind(head: number): void {
    this.#head = head;
    this.#historyEnd = head;
    this.#cursor = Math.max(0, head - this.#history);
    this.#recoveredAt = undefined;
  }

  #refused(frame: ServerFrame & { type: "refused" }): void {
    if (this.#pendingId === undefined) return;
    if (frame.replyTo !== undefined && frame.replyTo !== this.#pendingId) return;
    this.#pendingId = undefined;
    clearTimeout(this.#answerTimer);
    if (frame.refusal.code === "invalid_cursor" && this.#cursor !== undefined) {
      // The log ends before what was seen here, so it is another one.
      this.#options.onReset();
      this.#cursor = undefined;
      this.#subscribe();
      return;
    }
    this.#live({ phase: "refused", refusal: frame.refusal });
  }

  #live(connection: Connection = { phase: "live" }): void {
    this.#liveSince ??= serverNow();
    this.#options.onConnection(connection);
    clearInterval(this.#pingTimer);
    this.#pingTimer = setInterval(() => this.#ping(), PING_EVERY_MS);
  }

  #deliver(events: GodelEvent[]): void {
    const fresh: GodelEvent[] = [];
    for (const event of events) {
      const cursor = this.#cursor ?? 0;
      if (event.sequence <= cursor) continue;
      if (this.#pattern === "*" && event.sequence > cursor + 1) {
        if (this.#recoveredAt !== cursor) {
          this.#handOver(fresh);
          this.#recoveredAt = cursor;
          this.#subscribe();
          return;
        }
        this.#handOver(fresh.splice(0));
        this.#gap({ fromSequence: cursor + 1, toSequence: event.sequence - 1, reason: "missing" });
      }
      this.#cursor = event.sequence;
      fresh.push(event);
    }
    this.#handOver(fresh);
  }

  /** The last event can be lost without a later one to show the gap; the server says what it sent. */
  #checkHead(head: number | undefined): void {
    if (head === undefined || this.#cursor === undefined) return;
    if (head <= this.#cursor) {
      this.#options.onFresh?.();
      return;
    }
    if (this.#subscriptionId === undefined || this.#missedHead === head) return;
    this.#missedHead = head;
    this.#subscribe();
  }

  #handOver(events: GodelEvent[]): void {
    if (events.length === 0) return;
    this.#head = Math.max(this.#head, this.#cursor ?? 0);
    this.#options.onEvents(events);
  }

  #lagged(gap: Gap): void {
    const cursor = this.#cursor ?? 0;
    if (gap.toSequence <= cursor) return;
    this.#cursor = gap.toSequence;
    this.#gap({ ...gap, fromSequence: Math.max(gap.fromSequence, cursor + 1) });
  }

  #gap(gap: Gap): void {
    if (gap.reason !== "slow" && gap.toSequence <= this.#historyEnd) return;
    this.#options.onGap(gap);
  }

  #ping(): void {
    this.#send("ping", {});
    clearTimeout(this.#pongTimer);
    this.#pongTimer = setTimeout(() => this.#lost(), PONG_WITHIN_MS);
  }

  #expectAnswer(): void {
    clearTimeout(this.#answerTimer);
    this.#answerTimer = setTimeout(() => this.#lost(), ANSWER_WITHIN_MS);
  }

  #lost(): void {
    const wasStable =
      this.#liveSince !== undefined && serverNow() - this.#liveSince >= STABLE_AFTER_MS;
    if (wasStable) this.#failures = 0;
    this.#hangUp();
    const delay = backoffDelay(this.#failures, this.#options.random ?? Math.random);
    this.#failures += 1;
    const phase = this.#failures > OFFLINE_AFTER_TRIES ? "offline" : "reconnecting";
    this.#options.onConnection({ phase, retryAt: serverNow() + delay });
    this.#retryTimer = setTimeout(() => this.#open(), delay);
  }

  #hangUp(): void {
    const wire = this.#wire;
    this.#wire = undefined;
    this.#subscriptionId = undefined;
    this.#pendingId = undefined;
    this.#liveSince = undefined;
    clearTimeout(this.#answerTimer);
    clearTimeout(this.#pongTimer);
    clearInterval(this.#pingTimer);
    wire?.close();
  }

  #send<T extends ClientFrame["type"]>(
    type: T,
    payload: Extract<ClientFrame, { type: T }>["payload"],
  ): string {
    this.#frames += 1;
    const id = `web-${this.#frames}`;
    const timestamp = serverTimestamp();
    this.#wire?.send(JSON.stringify({ id, type, timestamp, payload }));
    return id;
  }
}

type Timer = ReturnType<typeof setTimeout> | undefined;

function openWebSocket(url: string, protocol: string): Wire {
  return new WebSocket(url, protocol) as Wire;
}
