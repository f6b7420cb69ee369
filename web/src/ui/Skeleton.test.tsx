import { act, render } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Late } from "./Skeleton";
import styles from "./Skeleton.module.css";

const isHidden = ({ container }: { container: Element }) =>
  container.firstElementChild?.classList.contains(styles.hidden ?? "hidden");

describe("G7 a skeleton", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("is not seen when the answer comes at once", () => {
    const late = render(<Late>bones</Late>);
    expect(isHidden(late)).toBe(true);
    act(() => vi.advanceTimersByTime(149));
    expect(isHidden(late)).toBe(true);
    act(() => vi.advanceTimersByTime(1));
    expect(isHidden(late)).toBe(false);
    // One that follows it is there at once: no blink between.
    expect(isHidden(render(<Late>more bones</Late>))).toBe(false);
  });
});
