import { useIsMutating } from "@tanstack/react-query";
import { useEffect, useState } from "react";

/** What follows from a change, such as an event and what is read because of it, is here after this time. */
const AFTER_MS = 2_000;

/**
 * True while the reader changes something, and a moment after: a list that keeps still for what
 * others do shows what one has done oneself at once.
 */
export function useActing(): boolean {
  const isSending = useIsMutating() > 0;
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    if (isSending) return setNear(true);
    const timer = setTimeout(() => setNear(false), AFTER_MS);
    return () => clearTimeout(timer);
  }, [isSending]);
  return isSending || isNear;
}
