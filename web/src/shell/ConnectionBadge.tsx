import { useLive } from "../realtime/live";
import type { Connection } from "../realtime/socket";
import styles from "./ConnectionBadge.module.css";

const WORDS: Record<Connection["phase"], string> = {
  connecting: "Connecting",
  live: "Live",
  refused: "Not following",
  reconnecting: "Reconnecting",
  offline: "Offline",
};

/** The state of the live connection at a glance; the banner says what it means. */
export function ConnectionBadge() {
  const { connection } = useLive();
  return (
    <div className={styles.badge} data-phase={connection.phase}>
      <span className={styles.dot} aria-hidden="true" />
      <span role="status">{WORDS[connection.phase]}</span>
    </div>
  );
}
