import { fullTime, relativeTime } from "./format";
import { useNow } from "./useNow";

const EVERY_MS = 10_000;

/** How long ago something was; the whole date is there on hover. */
export function Time({ at }: { at: string }) {
  const now = useNow(EVERY_MS);
  return (
    <time dateTime={at} title={fullTime(at)} className="tabular">
      {relativeTime(at, now)}
    </time>
  );
}
