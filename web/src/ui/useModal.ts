import { type RefObject, useEffect, useRef } from "react";

/** What a dialog with a form was opened for. */
const FIELD = "textarea, select, input:not([type='checkbox'], [type='radio'])";

/** A dialog that is open for as long as it is there, and gives the focus back when it goes. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    if (element?.open === false) {
      element.showModal();
      // The browser takes the first thing that can be pressed, which is the way out.
      element.querySelector<HTMLElement>(FIELD)?.focus();
    }
    return () => {
      const now = document.activeElement;
      // Who closed it may have moved the focus already.
      const isLost = now === null || now === document.body || element?.contains(now);
      if (isLost && before instanceof HTMLElement && before !== document.body) before.focus();
    };
  }, []);
  return dialog;
}
