import { type RefObject, useEffect, useEffectEvent, useState } from "react";
import type { Window } from "../window";

/** Lines of cards drawn above and below the visible part. */
const OVERSCAN = 2;
const FALLBACK = { scrollTop: 0, width: 1_000, height: 600 };

/** How cards of one size are laid out. */
export interface CardSize {
  minWidth: number;
  height: number;
  gap: number;
}

/** Which cards of a grid are in view; the grid fills its width with columns. */
export function useGridWindow(
  box: RefObject<HTMLElement | null>,
  count: number,
  size: CardSize,
): Window & { columns: number } {
  const [view, setView] = useState(FALLBACK);
  // Not a layout effect: the grid may be a part of what scrolls, and that is known only after its parts are laid out.
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => {
      const { paddingLeft, paddingRight } = getComputedStyle(element);
      const inner = element.clientWidth - Number.parseFloat(paddingLeft || "0");
      setView({
        scrollTop: element.scrollTop,
        width: inner - Number.parseFloat(paddingRight || "0") || FALLBACK.width,
        height: element.clientHeight || FALLBACK.height,
      });
    };
    look();
    const resized = new ResizeObserver(look);
    resized.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [box]);
  return gridWindow(count, size, view);
}

/** The cards in view, and how many are in a line. */
export function gridWindow(
  count: number,
  { minWidth, height, gap }: CardSize,
  view: { scrollTop: number; width: number; height: number },
): Window & { columns: number } {
  const columns = Math.max(1, Math.floor((view.width + gap) / (minWidth + gap)));
  const lines = Math.ceil(count / columns);
  const line = height + gap;
  const total = Math.max(0, lines * line - gap);
  const top = Math.min(Math.max(0, view.scrollTop), Math.max(0, total - view.height));
  const first = Math.max(0, Math.floor(top / line) - OVERSCAN);
  const end = Math.min(lines, Math.ceil((top + view.height) / line) + OVERSCAN);
  return {
    first: first * columns,
    end: Math.min(count, end * columns),
    offset: first * line,
    total,
    columns,
  };
}

/**
 * Brings the card that keys lead to into view when it becomes another; it is not when the card only
 * changes its place. Cards out of view are not drawn, so where it is has to be worked out.
 */
export function useCardInView(
  box: RefObject<HTMLElement | null>,
  grid: RefObject<HTMLElement | null>,
  { cursor, at, columns }: { cursor: string | undefined; at: number; columns: number },
  { height, gap }: CardSize,
): void {
  const show = useEffectEvent(() => {
    const [outer, inner] = [box.current, grid.current];
    if (!outer || !inner || at < 0) return;
    const begin = inner.offsetTop - (inner.offsetParent === outer ? 0 : outer.offsetTop);
    const top = begin + Math.floor(at / columns) * (height + gap);
    const room = outer.clientHeight || FALLBACK.height;
    if (top < outer.scrollTop) outer.scrollTop = top;
    else if (top + height > outer.scrollTop + room) outer.scrollTop = top + height - room;
  });
  useEffect(() => {
    if (cursor !== undefined) show();
  }, [cursor]);
}
