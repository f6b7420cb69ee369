import { afterEach, describe, expect, it, vi } from "vitest";
import { makeEvent } from "../../tests/fakeWire";
import { parseFrame } from "./protocol";
import { SseWire, type Stream } from "./sseWire";

class FakeStream implements Stream {
  onerror: ((event: unknown) => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  readonly named = new Map<string, (event: { data: unknown }) => void>();
  isClosed = false;
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  addEventListener(type: string, act: (event: { data: unknown }) => void): void {
    this.named.set(type, act);
  }
  close(): void {
    this.isClosed = true;
  }
}

afterEach(() => vi.useRealTimers());

describe("events without a WebSocket", () => {
  it("speak the same frames", () => {
    const streams: FakeStream[] = [];
    const wire = new SseWire((url) => {
      const stream = new FakeStream(url);
      streams.push(stream);
      return stream;
    });
    const frames: unknown[] = [];
    let isClosed = false;
    wire.onmessage = ({ data }) => frames.push(parseFrame(String(data)));
    wire.onclose = () => {
      isClosed = true;
    };
    const payload = { patterns: ["*"], after: 7, policy: "block" };
    wire.send(JSON.stringify({ id: "web-1", type: "subscribe", payload }));
    const [stream] = streams;
    expect(stream?.url).toBe("/api/v1/events/stream?pattern=*&after=7");
    stream?.named.get("ready")?.({ data: '{"head":9}' });
    stream?.onmessage?.({ data: JSON.stringify(makeEvent(8)) });
    stream?.named.get("lagged")?.({ data: '{"fromSequence":9,"toSequence":9,"reason":"slow"}' });
    expect(frames).toMatchObject([
      { type: "subscribed", replyTo: "web-1", subscriptionId: "web-1", head: 9 },
      { type: "events", subscriptionId: "web-1", events: [{ sequence: 8 }] },
      { type: "lagged", gap: { fromSequence: 9, toSequence: 9 } },
    ]);
    stream?.onerror?.({});
    expect([isClosed, stream?.isClosed]).toEqual([true, true]);
  });

  it("answer a ping with what was sent, and not at all when nothing was heard for long", () => {
    vi.useFakeTimers();
    const stream = new FakeStream("");
    const wire = new SseWire(() => stream);
    const pongs: unknown[] = [];
    wire.onmessage = ({ data }) => {
      const frame = parseFrame(String(data));
      if (frame.type === "pong") pongs.push(frame.head);
    };
    const say = (type: string) => wire.send(JSON.stringify({ id: type, type, payload: {} }));
    say("subscribe");
    say("ping");
    stream.named.get("alive")?.({ data: '{"head":12}' });
    vi.advanceTimersByTime(20_000);
    say("ping");
    vi.advanceTimersByTime(10_000);
    say("ping");
    expect(pongs).toEqual([undefined, 12]);
    stream.named.get("alive")?.({ data: '{"head":null}' });
    say("ping");
    expect(pongs).toEqual([undefined, 12, undefined]);
  });
});
