import { type RefObject, useEffect, useEffectEvent } from "react";
import type { ReviewDesk } from "./useReviewDesk";

/** Chooses lines by their numbers: press, draw, or press another one with Shift. */
export function useLinePointer(
  box: RefObject<HTMLElement | null>,
  { chosen, setChosen, setCursor }: ReviewDesk,
): void {
  const choose = useEffectEvent((key: string, at: number, isMore: boolean) => {
    const begin = isMore && chosen?.key === key ? chosen : undefined;
    const same = !isMore && chosen?.key === key && chosen.from === at && chosen.to === at;
    setCursor(key);
    if (same) setChosen(undefined);
    else if (begin) {
      setChosen({ key, from: Math.min(begin.from, at), to: Math.max(begin.from, at) });
    } else setChosen({ key, from: at, to: at });
  });
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let drawing: { key: string; at: number } | undefined;
    const onDown = (event: PointerEvent) => {
      const found = placeOf(event.target);
      if (!found || event.button !== 0) return;
      event.preventDefault();
      drawing = found;
      choose(found.key, found.at, event.shiftKey);
    };
    const onMove = (event: PointerEvent) => {
      if (!drawing) return;
      const found = placeOf(document.elementFromPoint(event.clientX, event.clientY));
      if (found?.key === drawing.key && found.at !== drawing.at) {
        drawing = found;
        choose(found.key, found.at, true);
      }
    };
    const onUp = () => {
      drawing = undefined;
    };
    element.addEventListener("pointerdown", onDown);
    element.addEventListener("pointermove", onMove);
    window.addEventListener("pointerup", onUp);
    return () => {
      element.removeEventListener("pointerdown", onDown);
      element.removeEventListener("pointermove", onMove);
      window.removeEventListener("pointerup", onUp);
    };
  }, [box]);
}

function placeOf(target: EventTarget | null): { key: string; at: number } | undefined {
  const found = target instanceof Element ? target.closest<HTMLElement>("[data-at]") : null;
  const { hunk, at } = found?.dataset ?? {};
  return hunk === undefined || at === undefined ? undefined : { key: hunk, at: Number(at) };
}
