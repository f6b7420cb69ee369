import { type RefObject, useEffect, useEffectEvent } from "react";

/**
 * Closes what a button opened: by a click elsewhere, by leaving it with the keyboard, or by Escape,
 * which gives the focus back to the button.
 */
export function useDismiss(
  box: RefObject<HTMLElement | null>,
  button: RefObject<HTMLElement | null>,
  isOpen: boolean,
  onClose: () => void,
  /** What belongs to the box but is drawn elsewhere. */
  portal?: RefObject<HTMLElement | null>,
): void {
  const close = useEffectEvent(onClose);
  useEffect(() => {
    if (!isOpen) return;
    const onElsewhere = (event: Event) => {
      const { target } = event;
      if (!(target instanceof Node)) return;
      if (!box.current?.contains(target) && !portal?.current?.contains(target)) close();
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      close();
      button.current?.focus();
    };
    document.addEventListener("pointerdown", onElsewhere);
    document.addEventListener("focusin", onElsewhere);
    document.addEventListener("keydown", onKey);
    return () => {
      document.removeEventListener("pointerdown", onElsewhere);
      document.removeEventListener("focusin", onElsewhere);
      document.removeEventListener("keydown", onKey);
    };
  }, [isOpen, box, button, portal]);
}
