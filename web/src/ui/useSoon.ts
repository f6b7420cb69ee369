import { useDeferredValue, useEffect, useState } from "react";

/** What follows what is typed by more than this looks like something else that happened. */
const WITHIN_MS = 100;

/**
 * A value that may be drawn a moment later, while the reader goes on; but soon, whatever happens meanwhile. React
 * begins what is deferred anew after each change of data, so on a page where they change all the time it may never
 * come to an end. Then it is drawn in one go.
 */
export function useSoon<T extends string | number | boolean | undefined>(value: T): T {
  const later = useDeferredValue(value);
  const [due, setDue] = useState<{ from: T; to: T }>();
  useEffect(() => {
    if (value === later) {
      setDue(undefined);
      return;
    }
    const timer = setTimeout(() => setDue({ from: later, to: value }), WITHIN_MS);
    return () => clearTimeout(timer);
  }, [value, later]);
  if (value === later) return value;
  // It counts only until what is deferred has come further.
  return due?.from === later ? due.to : later;
}
