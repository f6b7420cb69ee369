import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { makeEvent } from "../../tests/fakeWire";
import { FrameBatch } from "./batch";

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => makeEvent(from + index));

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => vi.clearAllTimers());

describe("the frame batch", () => {
  it("turns many arrivals into one update per frame", () => {
    const flush = vi.fn();
    const batch = new FrameBatch(100, flush);
    for (let index = 1; index <= 50; index += 1) batch.push([makeEvent(index)]);
    expect(flush).not.toHaveBeenCalled();
    vi.advanceTimersByTime(20);
    expect(flush).toHaveBeenCalledTimes(1);
    expect(flush.mock.calls[0]?.[0]).toHaveLength(50);
    vi.advanceTimersByTime(1_000);
    expect(flush).toHaveBeenCalledTimes(1);
  });

  it("keeps the newest and still counts the rest", () => {
    const flush = vi.fn();
    const batch = new FrameBatch(10, flush);
    batch.push(numbers(1, 25));
    batch.push(numbers(26, 30));
    batch.flush();
    const [events, total] = flush.mock.calls[0] ?? [];
    expect(events.map((event: { sequence: number }) => event.sequence)).toEqual(
      numbers(21, 30).map((event) => event.sequence),
    );
    expect(total).toBe(30);
  });

  it("takes events in while the page draws no frames", () => {
    vi.stubGlobal("requestAnimationFrame", () => 0);
    vi.stubGlobal("cancelAnimationFrame", () => undefined);
    const flush = vi.fn();
    new FrameBatch(10, flush).push([makeEvent(1)]);
    vi.advanceTimersByTime(250);
    expect(flush).toHaveBeenCalledTimes(1);
  });

  it("forgets what waits when cleared", () => {
    const flush = vi.fn();
    const batch = new FrameBatch(10, flush);
    batch.push([makeEvent(1)]);
    batch.clear();
    vi.advanceTimersByTime(1_000);
    expect(flush).not.toHaveBeenCalled();
  });
});
