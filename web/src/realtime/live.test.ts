import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeWire, makeEvent } from "../../tests/fakeWire";
import type { EventMetadata } from "../api/types";
import { LiveHub, type Told } from "./hub";
import { onLiveItems } from "./items";
import { onLive, RuleRunner } from "./rules";

const leave: (() => void)[] = [];
afterEach(() => {
  for (const act of leave.splice(0)) act();
});
beforeEach(() => {
  vi.useFakeTimers();
  FakeWire.all = [];
});

describe("rules", () => {
  it("ask a query again at once, then at most once a second", async () => {
    const client = new QueryClient();
    const asked = vi.spyOn(client, "invalidateQueries").mockResolvedValue();
    leave.push(onLive({ on: "bead:*", invalidate: () => [["beads"]] }));
    const runner = new RuleRunner(client);
    for (let at = 1; at <= 50; at += 1) runner.apply([makeEvent(at, "bead:moved")]);
    expect(asked).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(asked).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(asked).toHaveBeenCalledTimes(2);
    runner.apply([makeEvent(51, "task:queued")]);
    expect(asked).toHaveBeenCalledTimes(2);
  });

  it("wait for an answer that takes long instead of asking anew for ever", async () => {
    const client = new QueryClient();
    let answer = () => {};
    const asked = vi.spyOn(client, "invalidateQueries").mockImplementation(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    leave.push(onLive({ on: "bead:*", invalidate: () => [["beads"]] }));
    const runner = new RuleRunner(client);
    for (let at = 1; at <= 50; at += 1) {
      runner.apply([makeEvent(at, "bead:moved")]);
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(asked).toHaveBeenCalledTimes(1);
    answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(asked).toHaveBeenCalledTimes(2);
  });
});

interface Thing {
  id: string;
  n: number;
}

const about = (sequence: number, thingId: string) => ({
  ...makeEvent(sequence, "thing:moved"),
  metadata: { thingId } as EventMetadata,
});

describe("items that events are about", () => {
  /** A list of things in the cache, and whether somebody looks at it. */
  function things(items: Thing[], isShown = true) {
    const client = new QueryClient();
    client.setQueryData(["things"], { items, isCut: false });
    if (isShown) {
      const staleTime = Number.POSITIVE_INFINITY;
      const observer = new QueryObserver(client, { queryKey: ["things"], staleTime });
      leave.push(observer.subscribe(() => {}));
    }
    const read = vi.fn(async (id: string): Promise<Thing> => ({ id, n: 2 }));
    leave.push(
      onLiveItems<Thing>({
        on: ["thing:*"],
        ref: "thingId",
        idOf: ({ id }) => id,
        read,
        lists: ["things"],
        single: (id) => ["thing", id],
      }),
    );
    const list = () => (client.getQueryData(["things"]) as { items: Thing[] }).items;
    return { client, read, list, runner: new RuleRunner(client) };
  }

  it("are read once for many events", async () => {
    const { read, list, runner } = things([{ id: "a", n: 1 }]);
    for (let at = 1; at <= 20; at += 1) runner.apply([about(at, at % 2 ? "a" : "b")]);
    await vi.advanceTimersByTimeAsync(300);
    expect(read).toHaveBeenCalledTimes(2);
    expect(list()).toEqual([
      { id: "b", n: 2 },
      { id: "a", n: 2 },
    ]);
  });

  it("change a long list once, however many they are, and keep nothing else", async () => {
    const many = Array.from({ length: 1_000 }, (_, at) => ({ id: `t${at}`, n: 1 }));
    const { client, list, runner } = things(many);
    const before = client.getQueryData(["things"]);
    const seen = new Set<unknown>();
    const cache = client.getQueryCache();
    leave.push(cache.subscribe(() => seen.add(client.getQueryData(["things"]))));
    const last = many.at(-1);
    for (let at = 1; at <= 50; at += 1) runner.apply([about(at, `t${at}`)]);
    await vi.advanceTimersByTimeAsync(300);
    seen.delete(before);
    expect(seen.size).toBe(1);
    expect(list().filter(({ n }) => n === 2)).toHaveLength(50);
    expect(list().at(-1)).toBe(last);
    expect(cache.getAll()).toHaveLength(1);
  });

  it("are read once more if a list was under way that may be older than they are", async () => {
    const { client, read, list, runner } = things([{ id: "a", n: 1 }]);
    let answer = (_: { items: Thing[]; isCut: boolean }) => {};
    const queryFn = () =>
      new Promise<{ items: Thing[]; isCut: boolean }>((resolve) => {
        answer = resolve;
      });
    const reading = client.fetchQuery({ queryKey: ["things"], queryFn, staleTime: 0 });
    runner.apply([about(1, "a")]);
    await vi.advanceTimersByTimeAsync(300);
    expect(list()).toEqual([{ id: "a", n: 2 }]);
    answer({ items: [{ id: "a", n: 1 }], isCut: false });
    await reading;
    await vi.advanceTimersByTimeAsync(300);
    expect(read).toHaveBeenCalledTimes(2);
    expect(list()).toEqual([{ id: "a", n: 2 }]);
  });

  it("that nobody looks at are not read, but known to be old", async () => {
    const { client, read, runner } = things([{ id: "a", n: 1 }], false);
    runner.apply([about(1, "a")]);
    await vi.advanceTimersByTimeAsync(300);
    expect(read).not.toHaveBeenCalled();
    expect(client.getQueryState(["things"])?.isInvalidated).toBe(true);
  });
});

describe("the live connection", () => {
  function live(head: number) {
    const fresh: number[] = [];
    const told: Told[] = [];
    const onDoubt = vi.fn();
    const hub = new LiveHub({
      url: "ws://here/events",
      connect: (url, protocol) => new FakeWire(url, protocol),
      onEvents: (events) => fresh.push(...events.map((event) => event.sequence)),
      onDoubt,
    });
    leave.push(() => hub.stop());
    hub.read((one) => told.push(one));
    hub.start();
    const begin = (at: number) => {
      FakeWire.last.open();
      const first = FakeWire.last.accept(at);
      return FakeWire.last.frames("subscribe").length > 1 ? FakeWire.last.accept(at) : first;
    };
    const subscription = begin(head);
    onDoubt.mockClear();
    return { hub, fresh, told, onDoubt, subscription, begin };
  }

  it("shows history but acts on what is new only", () => {
    const { hub, fresh, subscription } = live(20);
    FakeWire.last.events(subscription, [1, 2, 3]);
    vi.advanceTimersByTime(300);
    expect(hub.recent.map((event) => event.sequence)).toEqual([1, 2, 3]);
    expect(fresh).toEqual([]);
  });

  it("G3 event 17 is dropped: it is asked for again, and if it never comes all is read anew", () => {
    const { fresh, onDoubt, subscription } = live(0);
    const upTo16 = Array.from({ length: 16 }, (_, at) => at + 1);
    FakeWire.last.events(subscription, upTo16);
    FakeWire.last.events(subscription, [18]);
    expect(FakeWire.last.subscribe.payload.after).toBe(16);
    const again = FakeWire.last.accept(18);
    FakeWire.last.events(again, [18, 19]);
    vi.advanceTimersByTime(300);
    expect(fresh).toEqual([...upTo16, 18, 19]);
    expect(onDoubt).toHaveBeenCalledTimes(1);
  });

  it("G4 is as fresh as the last time that the server said so, also when nothing happens", () => {
    const { hub, subscription } = live(0);
    FakeWire.last.events(subscription, [1]);
    vi.advanceTimersByTime(1_000);
    const before = hub.state.dataAsOf;
    vi.advanceTimersByTime(60_000);
    FakeWire.last.receive({ type: "pong", payload: { head: 1 } });
    const after = hub.state.dataAsOf;
    expect(after - before).toBeGreaterThanOrEqual(60_000);
    // One that tells of more than came says the opposite.
    vi.advanceTimersByTime(5_000);
    FakeWire.last.receive({ type: "pong", payload: { head: 2 } });
    expect(hub.state.dataAsOf).toBe(after);
  });

  it("G4 knows since when it is down, and how much a comeback brought", () => {
    const { hub, subscription, begin } = live(0);
    FakeWire.last.events(subscription, [1]);
    vi.advanceTimersByTime(300);
    const before = hub.state.dataAsOf;
    FakeWire.last.drop();
    expect(hub.state.downSince).toBeDefined();
    expect(hub.state.dataAsOf).toBe(before);
    vi.advanceTimersByTime(15_000);
    const again = begin(4);
    FakeWire.last.events(again, [2, 3, 4]);
    vi.advanceTimersByTime(300);
    expect(hub.state.downSince).toBeUndefined();
    expect(hub.state.comeback?.updates).toBe(3);
  });
});
