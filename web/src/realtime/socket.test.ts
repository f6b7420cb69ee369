import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeWire } from "../../tests/fakeWire";
import type { Gap } from "./protocol";
import {
  ANSWER_WITHIN_MS,
  type Connection,
  EventSocket,
  OFFLINE_AFTER_TRIES,
  PING_EVERY_MS,
  PONG_WITHIN_MS,
  STABLE_AFTER_MS,
} from "./socket";

/** A socket with everything it told its owner. */
function world({ pattern = "*", history = 0 } = {}) {
  const seen: number[] = [];
  const gaps: Gap[] = [];
  const states: Connection[] = [];
  let resets = 0;
  const socket = new EventSocket({
    url: "ws://host/events",
    pattern,
    history,
    onEvents: (events) => seen.push(...events.map((event) => event.sequence)),
    onGap: (gap) => gaps.push(gap),
    onReset: () => {
      resets += 1;
    },
    onConnection: (state) => states.push(state),
    connect: (url, protocol) => new FakeWire(url, protocol),
    random: () => 0.5,
  });
  socket.start();
  return {
    socket,
    seen,
    gaps,
    states,
    resets: () => resets,
    phase: () => states.at(-1)?.phase,
    /** Opens the newest connection and accepts its subscription. */
    goLive(head: number): string {
      FakeWire.last.open();
      return FakeWire.last.accept(head);
    },
    /** How long the socket says it will wait. */
    delay(): number {
      const state = states.at(-1);
      if (state?.phase !== "reconnecting" && state?.phase !== "offline")
        throw new Error("not down");
      return state.retryAt - Date.now();
    },
  };
}

beforeEach(() => {
  vi.useFakeTimers();
  FakeWire.all = [];
});
afterEach(() => vi.clearAllTimers());

describe("starting", () => {
  it("speaks the subprotocol and follows from now without loss", () => {
    const w = world();
    expect(w.phase()).toBe("connecting");
    const sub = w.goLive(7);
    expect(FakeWire.last.protocol).toBe("godel-events-v1");
    expect(FakeWire.last.subscribe.payload).toEqual({ patterns: ["*"], policy: "block" });
    expect(w.phase()).toBe("live");
    FakeWire.last.event(sub, 8);
    FakeWire.last.events(sub, [9, 10]);
    expect(w.seen).toEqual([8, 9, 10]);
  });

  it("learns the head first, then asks for a bit of history", () => {
    const w = world({ history: 50 });
    const probe = w.goLive(120);
    expect(FakeWire.last.frames("unsubscribe")[0]?.payload).toEqual({ subscriptionId: probe });
    expect(FakeWire.last.subscribe.payload.after).toBe(70);
    expect(w.phase()).toBe("connecting");
    const sub = FakeWire.last.accept(121);
    FakeWire.last.event(probe, 121);
    FakeWire.last.events(sub, [71, 72]);
    expect(w.seen).toEqual([71, 72]);
    expect(w.phase()).toBe("live");
  });

  it("asks for nothing when the log is empty", () => {
    const w = world({ history: 50 });
    w.goLive(0);
    expect(FakeWire.last.frames("subscribe")).toHaveLength(1);
    expect(w.phase()).toBe("live");
  });

  it("does not mind history that retention has removed", () => {
    const w = world({ history: 50 });
    w.goLive(60);
    const sub = FakeWire.last.accept(60);
    FakeWire.last.receive({
      type: "lagged",
      payload: { fromSequence: 11, toSequence: 40, reason: "retention" },
      metadata: { subscriptionId: sub },
    });
    FakeWire.last.event(sub, 41);
    expect(w.gaps).toEqual([]);
    expect(w.seen).toEqual([41]);
  });

  it("gives up on a server that accepts the connection but never answers", () => {
    const w = world();
    FakeWire.last.open();
    vi.advanceTimersByTime(ANSWER_WITHIN_MS);
    expect(FakeWire.all[0]?.isClosed).toBe(true);
    expect(w.phase()).toBe("reconnecting");
  });
});

describe("resuming", () => {
  it("goes on behind the last event seen, none lost, none twice", () => {
    const w = world();
    const first = w.goLive(5);
    FakeWire.last.events(first, [6, 7]);
    FakeWire.last.drop();
    expect(w.phase()).toBe("reconnecting");
    vi.advanceTimersByTime(1_000);
    FakeWire.last.open();
    expect(FakeWire.last.subscribe.payload.after).toBe(7);
    const second = FakeWire.last.accept(9);
    FakeWire.last.events(second, [7, 8, 9]);
    FakeWire.last.event(second, 9);
    FakeWire.last.event(second, 10);
    expect(w.seen).toEqual([6, 7, 8, 9, 10]);
    expect(w.gaps).toEqual([]);
  });

  it("resumes from the head when no event came before the connection broke", () => {
    const w = world();
    w.goLive(5);
    FakeWire.last.drop();
    vi.advanceTimersByTime(1_000);
    FakeWire.last.open();
    expect(FakeWire.last.subscribe.payload.after).toBe(5);
  });

  it("ignores what an abandoned connection still says", () => {
    const w = world();
    const sub = w.goLive(0);
    const old = FakeWire.last;
    old.drop();
    vi.advanceTimersByTime(1_000);
    old.event(sub, 1);
    old.drop();
    expect(w.seen).toEqual([]);
    expect(FakeWire.all).toHaveLength(2);
  });

  it("starts over when the server has a new, shorter log", () => {
    const w = world({ history: 10 });
    w.goLive(500);
    FakeWire.last.accept(500);
    FakeWire.last.drop();
    vi.advanceTimersByTime(1_000);
    FakeWire.last.open();
    expect(FakeWire.last.subscribe.payload.after).toBe(490);
    FakeWire.last.refuse("invalid_cursor");
    expect(w.resets()).toBe(1);
    expect(FakeWire.last.subscribe.payload.after).toBeUndefined();
    FakeWire.last.accept(3);
    expect(FakeWire.last.subscribe.payload.after).toBe(0);
    const sub = FakeWire.last.accept(3);
    FakeWire.last.events(sub, [1, 2, 3]);
    expect(w.seen).toEqual([1, 2, 3]);
  });
});

describe("gaps", () => {
  it("asks again when numbers are missing without a notice", () => {
    const w = world();
    const first = w.goLive(16);
    FakeWire.last.event(first, 18);
    expect(FakeWire.last.subscribe.payload.after).toBe(16);
    const second = FakeWire.last.accept(18);
    FakeWire.last.event(first, 19);
    FakeWire.last.events(second, [17, 18, 19]);
    expect(w.seen).toEqual([17, 18, 19]);
    expect(w.gaps).toEqual([]);
  });

  it("reports them when asking again did not help, and goes on", () => {
    const w = world();
    const first = w.goLive(16);
    FakeWire.last.event(first, 18);
    const second = FakeWire.last.accept(18);
    FakeWire.last.events(second, [18, 19]);
    expect(w.gaps).toEqual([{ fromSequence: 17, toSequence: 17, reason: "missing" }]);
    expect(w.seen).toEqual([18, 19]);
    expect(FakeWire.last.frames("subscribe")).toHaveLength(2);
  });

  it("expects holes under a narrower pattern", () => {
    const w = world({ pattern: "agent:*" });
    const sub = w.goLive(16);
    FakeWire.last.event(sub, 40);
    expect(w.seen).toEqual([40]);
    expect(FakeWire.last.frames("subscribe")).toHaveLength(1);
  });

  it("reports a lagged notice and resumes behind it", () => {
    const w = world();
    const sub = w.goLive(10);
    FakeWire.last.event(sub, 11);
    FakeWire.last.receive({
      type: "lagged",
      payload: { fromSequence: 10, toSequence: 30, reason: "slow" },
      metadata: { subscriptionId: sub },
    });
    FakeWire.last.event(sub, 31);
    expect(w.gaps).toEqual([{ fromSequence: 12, toSequence: 30, reason: "slow" }]);
    expect(w.seen).toEqual([11, 31]);
    FakeWire.last.drop();
    vi.advanceTimersByTime(1_000);
    FakeWire.last.open();
    expect(FakeWire.last.subscribe.payload.after).toBe(31);
  });

  it("reports what retention took while the page was away", () => {
    const w = world();
    w.goLive(10);
    FakeWire.last.drop();
    vi.advanceTimersByTime(1_000);
    const sub = w.goLive(900);
    FakeWire.last.receive({
      type: "lagged",
      payload: { fromSequence: 11, toSequence: 800, reason: "retention" },
      metadata: { subscriptionId: sub },
    });
    expect(w.gaps).toEqual([{ fromSequence: 11, toSequence: 800, reason: "retention" }]);
  });
});

describe("backoff", () => {
  it("waits 0.5, 1, 2, 4, 8, 15, 15 seconds and says offline in time", () => {
    const w = world();
    const waits: number[] = [];
    for (let tries = 1; tries <= 7; tries += 1) {
      FakeWire.last.drop();
      expect(w.phase()).toBe(tries > OFFLINE_AFTER_TRIES ? "offline" : "reconnecting");
      waits.push(w.delay());
      vi.advanceTimersByTime(w.delay());
    }
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
    expect(FakeWire.all).toHaveLength(8);
  });

  it("starts again from half a second after a connection that held", () => {
    const w = world();
    FakeWire.last.drop();
    vi.advanceTimersByTime(1_000);
    w.goLive(0);
    vi.advanceTimersByTime(STABLE_AFTER_MS);
    FakeWire.last.drop();
    expect(w.delay()).toBe(500);
  });

  it("keeps growing while the server accepts and drops at once", () => {
    const w = world();
    const waits: number[] = [];
    for (let tries = 0; tries < 3; tries += 1) {
      w.goLive(0);
      FakeWire.last.drop();
      waits.push(w.delay());
      vi.advanceTimersByTime(w.delay());
    }
    expect(waits).toEqual([500, 1_000, 2_000]);
  });

  it("tries at once when asked to, and only once", () => {
    const w = world();
    FakeWire.last.drop();
    w.socket.retryNow();
    w.socket.retryNow();
    vi.advanceTimersByTime(1_000);
    expect(FakeWire.all).toHaveLength(2);
  });

  it("does nothing more once stopped", () => {
    const w = world();
    const sub = w.goLive(0);
    const wire = FakeWire.last;
    w.socket.stop();
    wire.event(sub, 1);
    wire.drop();
    w.socket.retryNow();
    vi.advanceTimersByTime(120_000);
    expect(wire.isClosed).toBe(true);
    expect(w.seen).toEqual([]);
    expect(FakeWire.all).toHaveLength(1);
  });
});

describe("heartbeat", () => {
  it("pings every 30 seconds and stays while the server answers", () => {
    const w = world();
    w.goLive(0);
    for (let pings = 1; pings <= 3; pings += 1) {
      vi.advanceTimersByTime(PING_EVERY_MS);
      expect(FakeWire.last.frames("ping")).toHaveLength(pings);
      FakeWire.last.receive({ type: "pong", payload: {} });
    }
    expect(w.phase()).toBe("live");
  });

  it("G3 notices that the last event was lost, and gets it", () => {
    const w = world();
    const sub = w.goLive(0);
    const wire = FakeWire.last;
    wire.event(sub, 1);
    // The server sent 2 as well; it never came, and nothing comes after it.
    vi.advanceTimersByTime(PING_EVERY_MS);
    wire.receive({ type: "pong", payload: { head: 2 } });
    const asked = wire.frames("subscribe").at(-1);
    expect(asked?.payload).toMatchObject({ after: 1 });
    const again = wire.accept(2);
    wire.event(again, 2);
    expect(w.seen).toEqual([1, 2]);
    vi.advanceTimersByTime(PING_EVERY_MS);
    const before = wire.frames("subscribe").length;
    wire.receive({ type: "pong", payload: { head: 2 } });
    expect(wire.frames("subscribe")).toHaveLength(before);
  });

  it("hangs up on a connection that went silent", () => {
    const w = world();
    w.goLive(0);
    const wire = FakeWire.last;
    vi.advanceTimersByTime(PING_EVERY_MS + PONG_WITHIN_MS);
    expect(wire.isClosed).toBe(true);
    expect(w.phase()).toBe("reconnecting");
  });

  it("takes any frame as a sign of life", () => {
    const w = world();
    const sub = w.goLive(0);
    vi.advanceTimersByTime(PING_EVERY_MS + 1_000);
    FakeWire.last.event(sub, 1);
    vi.advanceTimersByTime(PONG_WITHIN_MS);
    expect(w.phase()).toBe("live");
  });
});

describe("changing the pattern", () => {
  it("replaces the subscription and looks back a bit", () => {
    const w = world({ history: 10 });
    w.goLive(50);
    const first = FakeWire.last.accept(50);
    FakeWire.last.events(first, [41, 42]);
    w.socket.setPattern("task:*");
    expect(FakeWire.last.frames("unsubscribe").at(-1)?.payload).toEqual({ subscriptionId: first });
    expect(FakeWire.last.subscribe.payload).toMatchObject({ patterns: ["task:*"], after: 40 });
    FakeWire.last.event(first, 43);
    const second = FakeWire.last.accept(51);
    FakeWire.last.event(second, 45, "task:queued");
    expect(w.seen).toEqual([41, 42, 45]);
  });

  it("drops the answer to a question it no longer asks", () => {
    const w = world();
    FakeWire.last.open();
    const stale = FakeWire.last.subscribe.id;
    w.socket.setPattern("task:*");
    FakeWire.last.receive({
      type: "response",
      payload: { success: true, data: { subscriptionId: "stale", head: 4 } },
      metadata: { correlationId: stale },
    });
    expect(FakeWire.last.frames("unsubscribe").at(-1)?.payload.subscriptionId).toBe("stale");
    expect(w.phase()).toBe("connecting");
    FakeWire.last.accept(4);
    expect(w.phase()).toBe("live");
  });

  it("waits for the connection when there is none", () => {
    const w = world();
    w.goLive(9);
    FakeWire.last.drop();
    w.socket.setPattern("task:*");
    vi.advanceTimersByTime(1_000);
    FakeWire.last.open();
    expect(FakeWire.last.frames("subscribe")).toHaveLength(1);
    expect(FakeWire.last.subscribe.payload).toMatchObject({ patterns: ["task:*"], after: 9 });
  });

  it("shows a refusal and recovers with the next pattern", () => {
    const w = world();
    w.goLive(9);
    w.socket.setPattern("bad pattern");
    FakeWire.last.receive({
      type: "error",
      payload: { code: "invalid_pattern", message: "no such pattern", hint: "try `agent:*`" },
      metadata: { correlationId: FakeWire.last.subscribe.id },
    });
    expect(w.states.at(-1)).toEqual({
      phase: "refused",
      refusal: { code: "invalid_pattern", message: "no such pattern", hint: "try `agent:*`" },
    });
    w.socket.setPattern("agent:*");
    FakeWire.last.accept(9);
    expect(w.phase()).toBe("live");
  });
});

describe("bad frames", () => {
  it("skips what it cannot read", () => {
    const w = world();
    const sub = w.goLive(0);
    for (const data of ["", "not json", "[]", "null", '{"type":"event"}', new ArrayBuffer(2)]) {
      FakeWire.last.onmessage?.({ data });
    }
    FakeWire.last.receive({ type: "event", payload: { sequence: "1" }, metadata: {} });
    FakeWire.last.receive({ type: "lagged", payload: {}, metadata: { subscriptionId: sub } });
    FakeWire.last.event(sub, 1);
    expect(w.seen).toEqual([1]);
    expect(w.phase()).toBe("live");
  });
});
