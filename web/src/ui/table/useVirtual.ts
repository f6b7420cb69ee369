import { type RefObject, useEffect, useLayoutEffect, useState } from "react";
import { type Window, windowOf } from "../window";

/** A box without a height (a test, a collapsed page) still draws a screenful. */
const FALLBACK_HEIGHT = 600;

/** Which rows of a long list are in view; all have the same height. */
export function useVirtual(
  box: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
): Window {
  const [view, setView] = useState({ scrollTop: 0, viewportHeight: FALLBACK_HEIGHT });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () =>
      setView({
        scrollTop: element.scrollTop,
        viewportHeight: element.clientHeight || FALLBACK_HEIGHT,
      });
    look();
    const resized = new ResizeObserver(look);
    resized.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [box]);
  return windowOf({ count, rowHeight, openIndex: -1, openHeight: 0, ...view });
}

/** Scrolls so that a row is in view, with a little room around it. */
export function useKeepInView(
  box: RefObject<HTMLElement | null>,
  index: number,
  rowHeight: number,
): void {
  useEffect(() => {
    const element = box.current;
    if (!element || index < 0) return;
    const top = index * rowHeight;
    const bottom = top + rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (bottom > element.scrollTop + element.clientHeight - rowHeight) {
      element.scrollTop = bottom + rowHeight - element.clientHeight;
    }
  }, [box, index, rowHeight]);
}
