import type { Connection } from "../../realtime/socket";
import { Button } from "../../ui/Button";
import { useNow } from "../../ui/useNow";
import styles from "./ConnectionBadge.module.css";

const WORDS: Record<Connection["phase"], string> = {
  connecting: "Connecting",
  live: "Live",
  refused: "Not following",
  reconnecting: "Reconnecting",
  offline: "Offline",
};

/** The state of the live connection at a glance; a screen reader hears changes, not seconds. */
export function ConnectionBadge({
  connection,
  onRetry,
}: {
  connection: Connection;
  onRetry: () => void;
}) {
  const { phase } = connection;
  const isDown = phase === "reconnecting" || phase === "offline";
  return (
    <div className={styles.group}>
      {isDown && (
        <Button look="quiet" onClick={onRetry}>
          Retry now
        </Button>
      )}
      <div className={styles.badge} data-phase={phase}>
        <span className={styles.dot} aria-hidden="true" />
        <span role="status">{WORDS[phase]}</span>
        {isDown && <Countdown until={connection.retryAt} isOffline={phase === "offline"} />}
      </div>
    </div>
  );
}

function Countdown({ until, isOffline }: { until: number; isOffline: boolean }) {
  const now = useNow(250);
  const seconds = Math.max(0, Math.ceil((until - now) / 1000));
  return (
    <span aria-hidden="true" className={styles.countdown}>
      {isOffline && ", next try"} in {seconds} s
    </span>
  );
}
