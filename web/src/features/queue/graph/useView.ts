import { type RefObject, useLayoutEffect, useState } from "react";

/** The part of a box that scrolls which is in sight. */
export interface View {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Follows what is in sight of a box that scrolls in both directions. */
export function useView(box: RefObject<HTMLElement | null>): View {
  const [view, setView] = useState<View>({ left: 0, top: 0, width: 1_000, height: 600 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () =>
      setView({
        left: element.scrollLeft,
        top: element.scrollTop,
        width: element.clientWidth,
        height: element.clientHeight,
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
  return view;
}
