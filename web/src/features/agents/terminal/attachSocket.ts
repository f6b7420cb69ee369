import { serverNow } from "../../../api/clock";
import { backoffDelay } from "../../../realtime/backoff";

/** Who has control: one connection of one person. */
export interface Holder {
  seat: string;
  name: string;
}

/** What a connection to a shell is doing. */
export type Phase =
  | { phase: "connecting" }
  | { phase: "open" }
  /** Nobody has opened a shell, or the one that was here has ended. */
  | { phase: "none"; why: string }
  | { phase: "waiting"; retryAt: number }
  /** It is over, for the reason that the server gave. */
  | { phase: "over"; why: string };

export interface AttachState {
  link: Phase;
  /** Whether this person may take control at all. */
  mayControl: boolean;
  holder: Holder | undefined;
  hasControl: boolean;
  /** The place behind the last byte that came. */
  offset: number;
  /** What was refused last, until something else is asked for. */
  refused: string | undefined;
}

/** The part of the browser's WebSocket that is needed here. */
export interface AttachWire {
  binaryType: string;
  onopen: ((event: unknown) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(): void;
}

export interface AttachOptions {
  /** The address of the socket, without a question. */
  url: string;
  size: () => { columns: number; rows: number };
  /** Bytes of the shell: each once and in order. */
  onBytes: (bytes: Uint8Array) => void;
  /** So many bytes are no longer kept by the server. */
  onDropped: (count: number) => void;
  /** How large the shell is; lines are broken by it. */
  onSize: (columns: number, rows: number) => void;
  /** Another shell begins; what was shown is of one that is gone. */
  onFresh: () => void;
  onChange: () => void;
  /**
   * Asks why no connection comes about, where nobody could say so on the socket itself: a sentence
   * if the server is there, nothing if it does not answer.
   */
  whyRefused: (wanted: "look" | "open") => Promise<string | undefined>;
  connect?: (url: string, protocol: string) => AttachWire;
  random?: () => number;
}

export const PROTOCOL = "godel-attach-v1";
export const PING_EVERY_MS = 30_000;
export const ANSWER_WITHIN_MS = 10_000;
/** What may be typed in one frame. */
const PIECE_BYTES = 16 * 1024;
const ENDED = 1000;
const LOGGED_OUT = 4401;
const REFUSED = 4403;
const TOO_SLOW = 4408;
const PLACE_BYTES = 8;

type Told =
  | {
      type: "hello";
      seat: string;
      terminal: string | null;
      offset: number;
      columns: number | null;
      rows: number | null;
      mayControl: boolean;
      holder: Holder | null;
    }
  | { type: "size"; columns: number; rows: number }
  | { type: "control"; holder: Holder | null }
  | { type: "dropped"; from: number; to: number }
  | { type: "exit"; code: number | null }
  | { type: "refused"; error: { message: string } }
  | { type: "pong" };

/**
 * A connection to the shell of an agent that survives lost connections: after one it asks for what
 * follows the last byte, drops what comes twice, and asks again for what is missing. It begins by
 * looking only. Knows no React and no screen.
 */
export class AttachSocket {
  readonly #options: AttachOptions;
  #wire: AttachWire | undefined;
  #state: AttachState = {
    link: { phase: "connecting" },
    mayControl: false,
    holder: undefined,
    hasControl: false,
    offset: 0,
    refused: undefined,
  };
  #seat: string | undefined;
  #terminal: string | undefined;
  #failures = 0;
  /** The place that was asked for again because bytes before it were missing. */
  #askedAgain: number | undefined;
  #isGreeted = false;
  #wanted: "look" | "open" = "look";
  #timer: Timer;
  #pinger: Timer;

  constructor(options: AttachOptions) {
    this.#options = options;
  }

  get state(): AttachState {
    return this.#state;
  }

  /** Looks at the shell if there is one. */
  start(): void {
    this.#open({ isWatching: true });
  }

  stop(): void {
    this.#hangUp();
    this.#change({ holder: undefined, hasControl: false });
  }

  /** Opens a shell, with control of it. */
  openShell(): void {
    this.#hangUp();
    this.#terminal = undefined;
    this.#open({ isWatching: false });
  }

  retryNow(): void {
    if (this.#state.link.phase === "waiting") this.#comeBack();
  }

  take(force: boolean): void {
    this.#change({ refused: undefined });
    this.#ask({ type: "take", force });
  }

  release(): void {
    this.#ask({ type: "release" });
  }

  resize(): void {
    const { columns, rows } = this.#options.size();
    if (this.#state.hasControl) this.#ask({ type: "resize", columns, rows });
  }

  /** Types bytes; nothing happens for who has no control. */
  type(bytes: Uint8Array<ArrayBuffer>): void {
    if (!this.#state.hasControl) return;
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      this.#wire?.send(bytes.slice(at, at + PIECE_BYTES));
    }
  }

  #open({ isWatching }: { isWatching: boolean }): void {
    clearTimeout(this.#timer);
    const { columns, rows } = this.#options.size();
    const ask = new URLSearchParams({ terminal: "true", explain: "true" });
    if (isWatching) ask.set("watch", "true");
    if (this.#terminal !== undefined) {
      ask.set("terminalId", this.#terminal);
      ask.set("offset", String(this.#state.offset));
    } else if (!isWatching) {
      ask.set("columns", String(columns));
      ask.set("rows", String(rows));
    }
    this.#isGreeted = false;
    this.#wanted = isWatching ? "look" : "open";
    this.#change({ link: { phase: "connecting" }, refused: undefined });
    const connect = this.#options.connect ?? openWebSocket;
    const wire = connect(`${this.#options.url}?${ask}`, PROTOCOL);
    wire.binaryType = "arraybuffer";
    this.#wire = wire;
    this.#expect();
    wire.onmessage = ({ data }) => this.#ifCurrent(wire, () => this.#receive(data));
    wire.onclose = (event) => this.#ifCurrent(wire, () => this.#closed(event));
  }

  /** Goes on where it was; control comes back to who had it. */
  #comeBack(): void {
    this.#open({ isWatching: !this.#state.hasControl });
  }

  #ifCurrent(wire: AttachWire, act: () => void): void {
    if (wire === this.#wire) act();
  }

  #receive(data: unknown): void {
    clearTimeout(this.#timer);
    if (data instanceof ArrayBuffer) this.#bytes(data);
    else if (typeof data === "string") this.#told(JSON.parse(data) as Told);
  }

  #told(told: Told): void {
    if (told.type === "hello") this.#greeted(told);
    else if (told.type === "size") this.#options.onSize(told.columns, told.rows);
    else if (told.type === "control") this.#controlled(told.holder);
    else if (told.type === "dropped") this.#dropped(told);
    else if (told.type === "refused") this.#change({ refused: told.error.message });
    else if (told.type === "exit") {
      const how = told.code === null ? "" : ` with code ${told.code}`;
      this.#over(`The shell has ended${how}.`);
    }
  }

  #greeted(told: Told & { type: "hello" }): void {
    const { seat, terminal, offset, mayControl, holder } = told;
    if (terminal !== this.#terminal) {
      if (this.#terminal !== undefined || this.#state.offset > 0) this.#options.onFresh();
      this.#terminal = terminal ?? undefined;
      this.#change({ offset });
    }
    this.#isGreeted = true;
    this.#failures = 0;
    this.#seat = seat;
    clearInterval(this.#pinger);
    this.#pinger = setInterval(() => this.#ping(), PING_EVERY_MS);
    this.#change({ link: { phase: "open" }, mayControl });
    if (told.columns != null && told.rows != null) this.#options.onSize(told.columns, told.rows);
    this.#controlled(holder);
  }

  #controlled(holder: Holder | null): void {
    const hadControl = this.#state.hasControl;
    const hasControl = holder !== null && holder.seat === this.#seat;
    const shown = holder ? { ...holder, name: holder.name.replace(/^user:/, "") } : undefined;
    this.#change({ holder: shown, hasControl, refused: undefined });
    if (hasControl && !hadControl) this.resize();
  }

  #bytes(frame: ArrayBuffer): void {
    if (frame.byteLength < PLACE_BYTES) return;
    const place = Number(new DataView(frame).getBigUint64(0));
    const bytes = new Uint8Array(frame, PLACE_BYTES);
    const { offset } = this.#state;
    if (place > offset && this.#askedAgain !== offset) {
      this.#askedAgain = offset;
      this.#hangUp();
      this.#comeBack();
      return;
    }
    if (place > offset) this.#options.onDropped(place - offset);
    const fresh = bytes.subarray(Math.max(0, Math.min(bytes.length, offset - place)));
    if (fresh.length === 0) return;
    this.#change({ offset: place + bytes.length });
    this.#options.onBytes(fresh);
  }

  #dropped({ from, to }: { from: number; to: number }): void {
    const { offset } = this.#state;
    if (to <= offset) return;
    this.#change({ offset: to });
    this.#options.onDropped(to - Math.max(from, offset));
  }

  #closed({ code, reason }: { code: number; reason: string }): void {
    const wasGreeted = this.#isGreeted;
    this.#hangUp();
    if (code === ENDED) this.#over(reason === "" ? "The shell has ended." : sentence(reason));
    else if (code === LOGGED_OUT) this.#over("Your login has ended.");
    else if (code === TOO_SLOW) this.#comeBack();
    else if (code === REFUSED) this.#refusedBy(this.#state.refused ?? reason);
    else if (wasGreeted) this.#wait();
    else this.#lookWhy();
  }

  /** A socket that never opened: refused, or nobody is there. */
  async #lookWhy(): Promise<void> {
    const failures = this.#failures;
    this.#wait();
    const why = await this.#options.whyRefused(this.#wanted).catch(() => undefined);
    // Meanwhile another try may be under way; this one's answer is about the past then.
    if (why === undefined || this.#failures !== failures + 1 || this.#wire) return;
    this.#refusedBy(why);
  }

  /** There is nothing to look at, for a reason that the server gave. */
  #refusedBy(why: string): void {
    clearTimeout(this.#timer);
    this.#failures = 0;
    const hadShell = this.#terminal !== undefined;
    this.#terminal = undefined;
    this.#change({
      link: { phase: "none", why: hadShell ? "The shell has ended." : sentence(why) },
      holder: undefined,
      hasControl: false,
      refused: undefined,
    });
  }

  #wait(): void {
    const delay = backoffDelay(this.#failures, this.#options.random ?? Math.random);
    this.#failures += 1;
    this.#change({ link: { phase: "waiting", retryAt: serverNow() + delay } });
    this.#timer = setTimeout(() => this.#comeBack(), delay);
  }

  #over(why: string): void {
    const { link } = this.#state;
    this.#terminal = undefined;
    this.#hangUp();
    // The first reason is the nearest one.
    const first = link.phase === "over" ? link.why : why;
    this.#change({ link: { phase: "over", why: first }, holder: undefined, hasControl: false });
  }

  #ping(): void {
    this.#ask({ type: "ping" });
    this.#expect();
  }

  #expect(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#closed({ code: 1006, reason: "" }), ANSWER_WITHIN_MS);
  }

  #hangUp(): void {
    const wire = this.#wire;
    this.#wire = undefined;
    clearTimeout(this.#timer);
    clearInterval(this.#pinger);
    wire?.close();
  }

  #ask(ask: object): void {
    if (this.#isGreeted) this.#wire?.send(JSON.stringify(ask));
  }

  #change(change: Partial<AttachState>): void {
    this.#state = { ...this.#state, ...change };
    this.#options.onChange();
  }
}

type Timer = ReturnType<typeof setTimeout> | undefined;

function sentence(text: string): string {
  const end = /[.!?]$/.test(text) ? "" : ".";
  return (text[0] ?? "").toUpperCase() + text.slice(1) + end;
}

function openWebSocket(url: string, protocol: string): AttachWire {
  return new WebSocket(url, protocol) as AttachWire;
}
