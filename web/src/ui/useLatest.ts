import { useCallback, useEffect, useRef } from "react";

/** A function that stays the same and calls the newest one: what is given it need not be drawn again. */
export function useLatest<Inputs extends unknown[], Output>(
  act: (...inputs: Inputs) => Output,
): (...inputs: Inputs) => Output {
  const latest = useRef(act);
  useEffect(() => {
    latest.current = act;
  });
  return useCallback((...inputs) => latest.current(...inputs), []);
}
