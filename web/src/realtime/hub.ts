import { serverNow } from "../api/clock";
import type { GodelEvent } from "../api/types";
import { FrameBatch } from "./batch";
import type { Gap } from "./protocol";
import { type Connection, EventSocket, type Wire } from "./socket";
import { SseWire } from "./sseWire";

/** How many past sequence numbers are asked for, so that a list of events does not start empty. */
const HISTORY = 200;
/** How many of the newest events are kept for who wants to look back. */
const KEPT = 1_000;
/** After so many tries without any success the other way to the events is tried, in turns. */
const TRIES_PER_WAY = 2;

/**
 * What happened to the log, in order; `gap` cannot be filled, `reset` is another log. `fresh` are
 * the events that happened since the page was opened, without the history it began with.
 */
export type Told =
  | { type: "events"; events: GodelEvent[]; fresh: GodelEvent[]; total: number }
  | { type: "gap"; gap: Gap }
  | { type: "reset" };

/** The connection, and how old what the page shows can be. */
export interface LiveState {
  connection: Connection;
  /** Since when nothing arrives (epoch milliseconds), while nothing does. */
  downSince: number | undefined;
  /** When the page last was up to date. */
  dataAsOf: number;
  /** How many events a reconnect brought, and when it did. */
  comeback: { at: number; updates: number } | undefined;
}

interface HubOptions {
  url: string;
  connect?: (url: string, protocol: string) => Wire;
  /** Every event that is new to this page, once and in order, at most once per drawn frame. */
  onEvents: (events: GodelEvent[]) => void;
  /** Something may have been missed: only asking again tells. */
  onDoubt: () => void;
}

/** How long after a reconnect events still count as those that were missed. */
const CATCH_UP_MS = 1_500;

/** The one live connection of the page. */
export class LiveHub {
  readonly #options: HubOptions;
  readonly #socket: EventSocket;
  readonly #batch: FrameBatch;
  readonly #listeners = new Set<() => void>();
  readonly #readers = new Set<(told: Told) => void>();
  #recent: GodelEvent[] = [];
  #tries = 0;
  #wasLive = false;
  #state: LiveState = {
    connection: { phase: "connecting" },
    downSince: undefined,
    dataAsOf: serverNow(),
    comeback: undefined,
  };

  constructor(options: HubOptions) {
    this.#options = options;
    this.#batch = new FrameBatch(KEPT, (events, total) => this.#handOver(events, total));
    this.#socket = new EventSocket({
      url: options.url,
      pattern: "*",
      history: HISTORY,
      connect: (url, protocol) => this.#connect(url, protocol),
      onEvents: (events) => this.#batch.push(events),
      onGap: (gap) => {
        this.#batch.flush();
        this.#tell({ type: "gap", gap });
        options.onDoubt();
      },
      onReset: () => {
        this.#batch.clear();
        this.#recent = [];
        this.#tell({ type: "reset" });
        options.onDoubt();
      },
      onConnection: (connection) => this.#connected(connection),
      // Read when it is needed; nobody has to be told.
      onFresh: () => {
        this.#state = { ...this.#state, dataAsOf: serverNow() };
      },
    });
  }

  start(): void {
    this.#socket.start();
  }

  stop(): void {
    this.#socket.stop();
    this.#batch.clear();
  }

  retryNow(): void {
    this.#socket.retryNow();
  }

  get state(): LiveState {
    return this.#state;
  }

  /** The newest events, the oldest first. */
  get recent(): readonly GodelEvent[] {
    return this.#recent;
  }

  /** Tells when `state` has changed. */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Tells everything that happens to the log from now on. */
  read(reader: (told: Told) => void): () => void {
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  }

  #connect(url: string, protocol: string): Wire {
    const isBySse = this.#tries >= TRIES_PER_WAY && Math.floor(this.#tries / TRIES_PER_WAY) % 2 > 0;
    this.#tries += 1;
    if (isBySse && typeof EventSource === "function") return new SseWire();
    return this.#options.connect?.(url, protocol) ?? (new WebSocket(url, protocol) as Wire);
  }

  #connected(connection: Connection): void {
    const { phase } = connection;
    const before = this.#state;
    if (phase === "live" || phase === "refused") {
      this.#tries = 0;
      const cameBack = before.downSince !== undefined && this.#wasLive;
      const comeback = cameBack ? { at: serverNow(), updates: 0 } : before.comeback;
      const dataAsOf = serverNow();
      this.#set({ connection, downSince: undefined, dataAsOf, comeback });
      // What was asked for before the stream began may lack what happened in between.
      if (!this.#wasLive) this.#options.onDoubt();
      this.#wasLive = true;
      return;
    }
    const isDown = phase === "reconnecting" || phase === "offline";
    const since = before.downSince ?? (isDown ? serverNow() : undefined);
    this.#set({ ...before, connection, downSince: since });
  }

  #handOver(events: GodelEvent[], total: number): void {
    this.#recent = [...this.#recent, ...events].slice(-KEPT);
    const fresh = events.filter((event) => event.sequence > this.#socket.historyEnd);
    this.#tell({ type: "events", events, fresh, total });
    // More than is kept between two frames: the rest is gone, so only asking again helps.
    if (total > events.length) this.#options.onDoubt();
    if (fresh.length === 0) return;
    const { comeback } = this.#state;
    const isCatchingUp = comeback && serverNow() - comeback.at < CATCH_UP_MS;
    this.#state = {
      ...this.#state,
      dataAsOf: serverNow(),
      comeback: isCatchingUp
        ? { ...comeback, updates: comeback.updates + fresh.length }
        : this.#state.comeback,
    };
    // Only a comeback is worth drawing; the time of the last event is read when it is needed.
    if (isCatchingUp) this.#changed();
    this.#options.onEvents(fresh);
  }

  #set(state: LiveState): void {
    this.#state = state;
    this.#changed();
  }

  #changed(): void {
    for (const tell of this.#listeners) tell();
  }

  #tell(told: Told): void {
    for (const read of this.#readers) read(told);
  }
}
