import type { Attempt } from "../../../api/types";
import { words } from "../../../ui/format";
import type { IconName } from "../../../ui/Icon";
import { Status, type Tone } from "../../../ui/Status";

const LOOKS: Record<string, readonly [Tone, IconName]> = {
  waiting: ["plain", "clock"],
  working: ["info", "play"],
  paused: ["warn", "pause"],
  done: ["ok", "check"],
  failed: ["bad", "cross"],
  stopped: ["plain", "stop"],
};

/** How an attempt stands, and whether it is the one. */
export function AttemptState({ attempt }: { attempt: Attempt }) {
  if (attempt.picked) {
    return (
      <Status tone="ok" icon="check">
        Picked
      </Status>
    );
  }
  const [tone, icon] = LOOKS[attempt.state] ?? ["plain", "circle"];
  return (
    <Status tone={tone} icon={icon}>
      {words(attempt.state)}
    </Status>
  );
}
