import type { Worker } from "../../../api/types";
import { fullTime } from "../../../ui/format";
import { Time } from "../../../ui/Time";

/**
 * When a worker was last heard of. One that is here was within half a minute, or it would be gone: a
 * beat makes no event, so an exact time would be old as soon as it is read.
 */
export function Heard({ worker }: { worker: Worker }) {
  if (worker.status === "offline") return <Time at={worker.seenAt} />;
  return <span title={`When this was read: ${fullTime(worker.seenAt)}`}>in the last 30 s</span>;
}
