import { type RefObject, useEffect, useState } from "react";

/** True while a mouse is over the element or the keyboard is in it. */
export function usePresence(box: RefObject<HTMLElement | null>): boolean {
  const [hasPointer, setPointer] = useState(false);
  const [hasFocus, setFocus] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const listening = new AbortController();
    const listen = <K extends keyof HTMLElementEventMap>(
      name: K,
      act: (event: HTMLElementEventMap[K]) => void,
    ) => element.addEventListener(name, act, { signal: listening.signal });
    listen("pointerenter", (event) => setPointer(event.pointerType === "mouse"));
    listen("pointerleave", () => setPointer(false));
    listen("focusin", (event) => setFocus((event.target as Element).matches(":focus-visible")));
    listen("focusout", () => setFocus(false));
    return () => listening.abort();
  }, [box]);
  return hasPointer || hasFocus;
}
