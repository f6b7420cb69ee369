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

  constructor(open: (url: string) => Stream = (url) => new EventSource(url) as unknown as Stream) {
    this.#open = open;
    queueMicrotask(() => !this.#isClosed && this.onopen?.({}));
  }

  send(text: string): void {
    const frame = JSON.parse(text) as Frame;
    // The stream itself is the proof of life; there is nothing to ping or to take back.
    if (frame.type === "ping") this.#say("pong", {}, {});
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

  #follow(subscriptionId: string, stream: Stream): void {
    this.#stream = stream;
    const ifCurrent = (act: (data: unknown) => void) => (event: { data: unknown }) => {
      if (stream === this.#stream) act(event.data);
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

/** The newest position: `{"position":3,"head":9}`, or the number alone. */
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
