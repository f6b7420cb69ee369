import { useEffect, useState } from "react";
import { serverNow } from "../api/clock";

/** The current time of the server, refreshed every `everyMs` while `active`. */
export function useNow(everyMs: number, active = true): number {
  const [now, setNow] = useState(() => serverNow());
  useEffect(() => {
    if (!active) return;
    // Who has just come knows the time already; a list of hundreds would be drawn twice for nothing.
    setNow((before) => (Math.abs(serverNow() - before) < everyMs ? before : serverNow()));
    const timer = setInterval(() => setNow(serverNow()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, active]);
  return now;
}
