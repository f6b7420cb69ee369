import type { Wire } from "./socket";

/** The part of the browser's EventSource that is needed here. */
export interface Stream {
  onerror: ((event: unknown) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  addEventListener(type: string, act: (event: { data: unknown }) => void): void;
  close(): void;
}

interface Frame {
  id: string;
  type: string;
  payload: { patterns?: string[]; after?: number };
}

const STREAM = "/api/v1/events/stream";
/** The server says every 10 seconds that it is there; twice not heard is too often. */
const SILENT_MS = 25_000;

/**
 * Server-sent events behind the face of a WebSocket, for networks that let no WebSocket through.
 * Each subscription is a stream of its own; it speaks the frames of `protocol.ts`.
 */
export class SseWire implements Wire {
  onopen: ((event: unknown) => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: unknown) => void) | null = null;
  readonly #open: (url: string) => Stream;
  #stream: Stream | undefined;
  #isClosed = false;
  /** When something was last heard, on a clock that nobody sets. */
  #heardAt = performance.now();
  /** The last event that was sent to us, as the server tells it. */
  #head: number | undefined;

  constructor(open: (url: string) => Stream = (url) => new EventSource(url) as unknown as Stream) {
    this.#open = open;
    queueMicrotask(() => !this.#isClosed && this.onopen?.({}));
  }

  send(text: string): void {
    const frame = JSON.parse(text) as Frame;
    if (frame.type === "ping") this.#pong();
    if (frame.type !== "subscribe") return;
    this.#stream?.close();
    const fields = new URLSearchParams();
    for (const pattern of frame.payload.patterns ?? []) fields.append("pattern", pattern);
    if (frame.payload.after !== undefined) fields.set("after", String(frame.payload.after));
    this.#follow(frame.id, this.#open(`${STREAM}?${fields}`));
  }

  close(): void {
    this.#isClosed = true;
    this.#stream?.close();
  }

  /** A stream cannot be asked; but one that was silent for long is dead, whatever the browser thinks. */
  #pong(): void {
    if (this.#stream && performance.now() - this.#heardAt > SILENT_MS) return;
    this.#say("pong", { head: this.#head }, {});
  }

  #follow(subscriptionId: string, stream: Stream): void {
    this.#stream = stream;
    this.#head = undefined;
    this.#heardAt = performance.now();
    const ifCurrent = (act: (data: unknown) => void) => (event: { data: unknown }) => {
      if (stream !== this.#stream) return;
      this.#heardAt = performance.now();
      act(event.data);
    };
    stream.addEventListener(
      "ready",
      ifCurrent((data) => {
        const success = { success: true, data: { subscriptionId, head: headOf(data) } };
        this.#say("response", success, { correlationId: subscriptionId });
      }),
    );
    stream.addEventListener(
      "lagged",
      ifCurrent((data) => this.#say("lagged", parse(data), { subscriptionId })),
    );
    stream.addEventListener(
      "alive",
      ifCurrent((data) => {
        const head = headOf(data);
        this.#head = typeof head === "number" ? head : undefined;
      }),
    );
    stream.onmessage = ifCurrent((data) => this.#say("event", parse(data), { subscriptionId }));
    // The browser would come back by itself, but not with the backoff that people are told about.
    stream.onerror = () => {
      if (stream !== this.#stream || this.#isClosed) return;
      this.close();
      this.onclose?.({});
    };
  }

  #say(type: string, payload: unknown, metadata: object): void {
    this.onmessage?.({ data: JSON.stringify({ id: "sse", type, payload, metadata }) });
  }
}

/** The position that is told: `{"head":9}`, or the number alone. */
function headOf(data: unknown): unknown {
  const ready = parse(data);
  return typeof ready === "object" && ready !== null && "head" in ready ? ready.head : ready;
}

function parse(data: unknown): unknown {
  try {
    return JSON.parse(String(data));
  } catch {
    return undefined;
  }
}
