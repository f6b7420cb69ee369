import { describe, expect, it } from "vitest";
import { topOf, windowOf } from "./window";

const base = {
  count: 2_000,
  rowHeight: 40,
  scrollTop: 0,
  viewportHeight: 400,
  openIndex: -1,
  openHeight: 0,
};

describe("the drawn window", () => {
  it("draws a screenful and a little more, never the whole list", () => {
    const top = windowOf(base);
    expect(top).toEqual({ first: 0, end: 16, offset: 0, total: 80_000 });
    const middle = windowOf({ ...base, scrollTop: 4_000 });
    expect(middle).toMatchObject({ first: 95, end: 116, offset: 95 * 40 });
  });

  it("makes room for the open row", () => {
    const open = { ...base, openIndex: 2, openHeight: 300 };
    expect(windowOf(open).total).toBe(80_300);
    const below = windowOf({ ...open, scrollTop: 4_300 });
    expect(below).toMatchObject({ first: 95, offset: 95 * 40 + 300 });
  });

  it("keeps the open row while only its details are in view", () => {
    const inside = windowOf({ ...base, openIndex: 50, openHeight: 2_000, scrollTop: 2_500 });
    expect(inside.first).toBeLessThanOrEqual(50);
    expect(inside.end).toBeGreaterThan(50);
    expect(inside.offset).toBe(inside.first * 40);
  });

  it("covers every pixel of the view, wherever it is", () => {
    for (const openIndex of [-1, 0, 7, 1_999]) {
      const geometry = { ...base, openIndex, openHeight: openIndex < 0 ? 0 : 333 };
      for (let scrollTop = 0; scrollTop <= 80_000; scrollTop += 331) {
        const drawn = windowOf({ ...geometry, scrollTop });
        const holdsOpen = drawn.first <= openIndex && openIndex < drawn.end;
        const height = (drawn.end - drawn.first) * 40 + (holdsOpen ? 333 : 0);
        const viewTop = Math.min(scrollTop, drawn.total - 400);
        expect(drawn.offset).toBeLessThanOrEqual(viewTop);
        expect(drawn.offset + height).toBeGreaterThanOrEqual(viewTop + 400);
      }
    }
  });

  it("gives each row a place that the rows before it end at", () => {
    const open = { rowHeight: 40, openIndex: 2, openHeight: 300 };
    expect([0, 2, 3, 4].map((index) => topOf(index, open))).toEqual([0, 80, 420, 460]);
    expect(topOf(3, { ...open, openIndex: -1 })).toBe(120);
  });

  it("survives a list that shrank under the scroll position", () => {
    const drawn = windowOf({ ...base, count: 3, scrollTop: 9_000 });
    expect(drawn).toEqual({ first: 0, end: 3, offset: 0, total: 120 });
  });
});
