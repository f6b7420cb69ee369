import { type RefObject, useEffect, useRef } from "react";

/** A dialog that is open for as long as it is there, and gives the focus back when it goes. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    if (element?.open === false) element.showModal();
    return () => {
      const now = document.activeElement;
      // Who closed it may have moved the focus already.
      const isLost = now === null || now === document.body || element?.contains(now);
      if (isLost && before instanceof HTMLElement && before !== document.body) before.focus();
    };
  }, []);
  return dialog;
}
