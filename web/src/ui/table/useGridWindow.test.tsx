import { fireEvent, render, screen } from "@testing-library/react";
import { type RefObject, useRef } from "react";
import { describe, expect, it } from "vitest";
import { gridWindow, useGridWindow } from "./useGridWindow";

const SIZE = { minWidth: 280, height: 100, gap: 10 };

describe("a grid of cards", () => {
  it("draws few of many, wherever it is scrolled to", () => {
    for (const scrollTop of [0, 5_000, 1e9]) {
      const view = gridWindow(1_000, SIZE, { scrollTop, width: 900, height: 800 });
      expect(view.columns).toBe(3);
      expect(view.end - view.first).toBeLessThan(50);
      expect(view.first % 3).toBe(0);
    }
  });

  it("ends with the last card", () => {
    const view = gridWindow(1_000, SIZE, { scrollTop: 1e9, width: 900, height: 800 });
    expect(view.end).toBe(1_000);
    expect(view.total).toBe(334 * 110 - 10);
  });

  it("has one column where two do not fit", () => {
    expect(gridWindow(4, SIZE, { scrollTop: 0, width: 300, height: 800 }).columns).toBe(1);
  });

  it("follows what scrolls, also if it is only a part of that", () => {
    render(<Around />);
    const scrolls = screen.getByRole("region", { name: "Cards" });
    expect(screen.getByText(/^from 0 /)).toBeTruthy();
    scrolls.scrollTop = 11_000;
    fireEvent.scroll(scrolls);
    expect(screen.queryByText(/^from 0 /)).toBeNull();
  });
});

function Around() {
  const box = useRef<HTMLElement>(null);
  return (
    <section ref={box} aria-label="Cards">
      <Grid box={box} />
    </section>
  );
}

function Grid({ box }: { box: RefObject<HTMLElement | null> }) {
  const { first, end } = useGridWindow(box, 1_000, SIZE);
  return (
    <p>
      from {first} to {end}
    </p>
  );
}
