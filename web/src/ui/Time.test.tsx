import { act, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Time } from "./Time";

const NOON = Date.parse("2026-11-18T12:00:00Z");
const at = (ms: number) => new Date(NOON + ms).toISOString();

beforeEach(() => vi.useFakeTimers({ now: NOON }));
afterEach(() => vi.useRealTimers());

describe("how long ago something was", () => {
  it("goes on by itself, with one timer for all of them", () => {
    const { unmount } = render(
      <>
        <Time at={at(-60_000)} />
        <Time at={at(-120_000)} />
      </>,
    );
    expect(vi.getTimerCount()).toBe(1);
    act(() => vi.advanceTimersByTime(60_000));
    expect(screen.getByText("2m ago")).toBeDefined();
    expect(screen.getByText("3m ago")).toBeDefined();
    unmount();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is exact for who comes between two ticks", () => {
    render(<Time at={at(-3_600_000)} />);
    act(() => vi.advanceTimersByTime(9_000));
    render(<Time at={at(-1_000)} />);
    expect(screen.getByText("10s ago")).toBeDefined();
  });

  it("is now, not in the future, for what happened since the last tick", () => {
    const { rerender } = render(<Time at={at(-60_000)} />);
    act(() => vi.advanceTimersByTime(9_000));
    rerender(<Time at={at(8_000)} />);
    expect(screen.getByText("now")).toBeDefined();
    rerender(<Time at={at(700_000)} />);
    expect(screen.getByText("in 11m")).toBeDefined();
  });
});
