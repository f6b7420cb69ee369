import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { learnTime, serverNow } from "./clock";

const NOON = Date.parse("2026-11-17T12:00:00Z");
const HOUR_MS = 3_600_000;
const header = (at: number) => new Date(at).toUTCString();

beforeEach(() => {
  vi.useFakeTimers({ now: NOON });
});
afterEach(() => {
  learnTime(header(Date.now()), 0);
  vi.useRealTimers();
});

it("a clock that is right is left alone", () => {
  learnTime(header(NOON - 3_000), 10);
  expect(serverNow()).toBe(NOON);
});

it("a clock that is hours off is put right, whichever way", () => {
  learnTime(header(NOON + 3 * HOUR_MS), 10);
  expect(serverNow()).toBe(NOON + 3 * HOUR_MS + 500);
  learnTime(header(NOON - 3 * HOUR_MS), 10);
  expect(serverNow()).toBe(NOON - 3 * HOUR_MS + 500);
});

it("a clock that somebody sets right is believed again", () => {
  learnTime(header(NOON + HOUR_MS), 10);
  vi.setSystemTime(NOON + HOUR_MS);
  learnTime(header(NOON + HOUR_MS), 10);
  expect(serverNow()).toBe(NOON + HOUR_MS);
});

it("a slow answer, or one without a time, teaches nothing", () => {
  learnTime(header(NOON + HOUR_MS), 9_000);
  learnTime(null, 10);
  learnTime("soon", 10);
  expect(serverNow()).toBe(NOON);
});
