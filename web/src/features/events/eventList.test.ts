import { describe, expect, it } from "vitest";
import { makeEvent } from "../../../tests/fakeWire";
import {
  EMPTY_LIST,
  type EventList,
  type EventListAction,
  MAX_ROWS,
  reduceEventList,
} from "./eventList";

const received = (...sequences: number[]): EventListAction => ({
  type: "received",
  events: sequences.map((sequence) => makeEvent(sequence)),
  total: sequences.length,
});

function listAfter(...actions: EventListAction[]): EventList {
  return actions.reduce(reduceEventList, EMPTY_LIST);
}

const order = (list: EventList) => list.rows.map((row) => row.at);

describe("the event list", () => {
  it("shows the newest first", () => {
    const list = listAfter(received(1, 2), received(3));
    expect(order(list)).toEqual([3, 2, 1]);
    expect(list.received).toBe(3);
  });

  it("shows each event once", () => {
    const list = listAfter(received(1, 2), received(2, 3));
    expect(order(list)).toEqual([3, 2, 1]);
    expect(list.received).toBe(3);
    expect(reduceEventList(list, received(1, 2))).toBe(list);
  });

  it("puts late history where it belongs", () => {
    const list = listAfter(received(5, 9), received(6, 7, 9));
    expect(order(list)).toEqual([9, 7, 6, 5]);
  });

  it("keeps a bounded number of rows", () => {
    const sequences = Array.from({ length: MAX_ROWS + 500 }, (_, index) => index + 1);
    const list = listAfter(received(...sequences));
    expect(list.rows).toHaveLength(MAX_ROWS);
    expect(list.rows[0]?.at).toBe(MAX_ROWS + 500);
    expect(list.received).toBe(MAX_ROWS + 500);
  });

  it("counts what a busy page skipped", () => {
    const list = listAfter({ type: "received", events: [makeEvent(50)], total: 50 });
    expect(list.received).toBe(50);
  });

  it("marks a gap between its neighbours", () => {
    const gap = { fromSequence: 3, toSequence: 8, reason: "slow" } as const;
    const list = listAfter(received(1, 2), { type: "lost", gap }, received(9));
    expect(list.rows.map((row) => row.kind)).toEqual(["event", "gap", "event", "event"]);
    expect(list.received).toBe(3);
  });

  it("stands still while held and catches up after", () => {
    const held = listAfter(received(1), { type: "hold", on: true }, received(2, 3), received(3, 4));
    expect(order(held)).toEqual([1]);
    expect(held.heldCount).toBe(3);
    const released = reduceEventList(held, { type: "hold", on: false });
    expect(order(released)).toEqual([4, 3, 2, 1]);
    expect(released).toMatchObject({ heldCount: 0, holding: false });
  });

  it("can show what is held without letting go", () => {
    const list = listAfter({ type: "hold", on: true }, received(1, 2), { type: "showHeld" });
    expect(order(list)).toEqual([2, 1]);
    expect(list.holding).toBe(true);
    expect(order(reduceEventList(list, received(3)))).toEqual([2, 1]);
  });

  it("bounds what is held, but counts all", () => {
    const sequences = Array.from({ length: MAX_ROWS + 7 }, (_, index) => index + 1);
    const list = listAfter({ type: "hold", on: true }, received(...sequences));
    expect(list.held).toHaveLength(MAX_ROWS);
    expect(list.heldCount).toBe(MAX_ROWS + 7);
  });

  it("narrows to a pattern at once", () => {
    const list = listAfter(
      received(1),
      { type: "received", events: [makeEvent(2, "task:queued")], total: 1 },
      { type: "filter", pattern: "task:*" },
    );
    expect(order(list)).toEqual([2]);
    expect(list.received).toBe(1);
  });

  it("forgets all when the log starts over", () => {
    expect(listAfter(received(1, 2), { type: "clear" })).toEqual(EMPTY_LIST);
  });
});
