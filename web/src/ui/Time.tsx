import { serverNow } from "../api/clock";
import { fullTime, relativeTime } from "./format";
import { useNow } from "./useNow";

const EVERY_MS = 10_000;

/** How long ago something was; the whole date is there on hover. */
export function Time({ at }: { at: string }) {
  const ticked = useNow(EVERY_MS);
  // What happened since the last tick was not in the future.
  const now = Math.max(ticked, Math.min(Date.parse(at), serverNow()));
  return (
    <time dateTime={at} title={fullTime(at)} className="tabular">
      {relativeTime(at, now)}
    </time>
  );
}
