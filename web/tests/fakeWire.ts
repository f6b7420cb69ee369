import type { GodelEvent } from "../src/api/types";
import type { Wire } from "../src/realtime/socket";

interface SentFrame {
  id: string;
  type: string;
  timestamp: string;
  payload: { patterns?: string[]; after?: number; policy?: string; subscriptionId?: string };
}

/** The server's end of a WebSocket, played by a test. */
export class FakeWire implements Wire {
  static all: FakeWire[] = [];
  onopen: ((event: unknown) => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: unknown) => void) | null = null;
  sent: SentFrame[] = [];
  isClosed = false;
  readonly url: string;
  readonly protocol: string | undefined;
  #subscriptions = 0;

  constructor(url: string, protocol?: string) {
    this.url = url;
    this.protocol = protocol;
    FakeWire.all.push(this);
  }

  static get last(): FakeWire {
    const wire = FakeWire.all.at(-1);
    if (!wire) throw new Error("no connection was opened");
    return wire;
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.isClosed = true;
  }

  /** The connection is there. */
  open(): void {
    this.onopen?.({});
  }

  /** The connection breaks. */
  drop(): void {
    this.isClosed = true;
    this.onclose?.({});
  }

  receive(frame: object): void {
    this.onmessage?.({ data: JSON.stringify({ id: "s", timestamp: "", ...frame }) });
  }

  frames(type: string): SentFrame[] {
    return this.sent.filter((frame) => frame.type === type);
  }

  get subscribe(): SentFrame {
    const frame = this.frames("subscribe").at(-1);
    if (!frame) throw new Error("nothing was subscribed");
    return frame;
  }

  /** Says yes to the latest subscribe and returns the new subscription's id. */
  accept(head: number): string {
    this.#subscriptions += 1;
    const subscriptionId = `sub-${this.#subscriptions}`;
    this.receive({
      type: "response",
      payload: { success: true, data: { subscriptionId, head } },
      metadata: { correlationId: this.subscribe.id },
    });
    return subscriptionId;
  }

  /** Says no to the latest subscribe. */
  refuse(code: string): void {
    this.receive({
      type: "response",
      payload: { success: false, error: { code, message: "no" } },
      metadata: { correlationId: this.subscribe.id },
    });
  }

  event(subscriptionId: string, sequence: number, type = "agent:start"): void {
    this.receive({
      type: "event",
      payload: makeEvent(sequence, type),
      metadata: { subscriptionId },
    });
  }

  events(subscriptionId: string, sequences: number[]): void {
    const events = sequences.map((sequence) => makeEvent(sequence));
    this.receive({ type: "events", payload: { events }, metadata: { subscriptionId } });
  }
}

export function makeEvent(sequence: number, type = "agent:start", payload = {}): GodelEvent {
  return {
    id: `event-${sequence}`,
    sequence,
    type,
    timestamp: "2026-11-15T10:00:00.000Z",
    source: { component: "test", instance: null, version: null },
    payload,
    metadata: {},
  };
}
