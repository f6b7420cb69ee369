import { act, render, screen } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import type { LiveState } from "../realtime/hub";
import { ReconnectBanner } from "./ReconnectBanner";

let state: LiveState;
vi.mock("../realtime/live", () => ({
  useHub: () => ({ retryNow: () => undefined }),
  useLive: () => state,
}));

const UP: LiveState = {
  connection: { phase: "live" },
  downSince: undefined,
  dataAsOf: 0,
  comeback: undefined,
};

beforeEach(() => {
  vi.useFakeTimers();
  state = UP;
});

/** The connection is lost for so long and comes back; tells what was said meanwhile and afterwards. */
function breakFor(draw: () => void, ms: number, updates: number) {
  state = {
    ...UP,
    connection: { phase: "offline", retryAt: Date.now() + 1_000 },
    downSince: Date.now(),
  };
  draw();
  act(() => void vi.advanceTimersByTime(ms));
  const meanwhile = screen.queryByText(/^Reconnecting/)?.textContent;
  state = { ...UP, comeback: { at: Date.now(), updates } };
  draw();
  return { meanwhile, afterwards: screen.queryByText(/^Back online/)?.textContent };
}

it("G4 is told after two seconds, says three seconds long that it is back, and keeps short breaks to itself", () => {
  const { rerender } = render(<ReconnectBanner />);
  const draw = () => rerender(<ReconnectBanner />);
  expect(breakFor(draw, 1_000, 0)).toEqual({ meanwhile: undefined, afterwards: undefined });
  act(() => void vi.advanceTimersByTime(10_000));
  const long = breakFor(draw, 2_500, 37);
  expect(long.meanwhile).toMatch(/^Reconnecting, data as of /);
  expect(long.afterwards).toBe("Back online, 37 updates");
  act(() => void vi.advanceTimersByTime(3_100));
  expect(screen.queryByText(/^Back online/)).toBeNull();
  // A long one before is no reason to tell of a short one.
  expect(breakFor(draw, 1_000, 0)).toEqual({ meanwhile: undefined, afterwards: undefined });
});
