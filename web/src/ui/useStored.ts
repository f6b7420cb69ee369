import { useCallback, useState } from "react";

/** A small choice that this browser remembers, such as the columns of a table. */
export function useStored<T>(name: string, initial: T): [T, (value: T) => void] {
  const key = `godel.${name}`;
  const [value, setValue] = useState<T>(() => {
    try {
      const stored = localStorage.getItem(key);
      return stored === null ? initial : (JSON.parse(stored) as T);
    } catch {
      return initial;
    }
  });
  const change = useCallback(
    (next: T) => {
      setValue(next);
      try {
        localStorage.setItem(key, JSON.stringify(next));
      } catch {
        // Without storage the choice lasts as long as the page.
      }
    },
    [key],
  );
  return [value, change];
}
