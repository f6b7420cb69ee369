import { useEffect, useState } from "react";
import { useHub, useLive } from "../realtime/live";
import { Button } from "../ui/Button";
import { plural, wallClock } from "../ui/format";
import { Icon } from "../ui/Icon";
import { useNow } from "../ui/useNow";
import styles from "./ReconnectBanner.module.css";

/** A short break is nobody's business. */
const SHOWN_AFTER_MS = 2_000;
const BACK_FOR_MS = 3_000;

/** Says that the page is behind, how far, and when it will try again; then that it is back. */
export function ReconnectBanner() {
  const hub = useHub();
  const { connection, downSince, dataAsOf, comeback } = useLive();
  const isDown = downSince !== undefined;
  const now = useNow(250, isDown);
  const [shownFor, setShownFor] = useState<number>();
  const isShown = isDown && now - downSince >= SHOWN_AFTER_MS;
  // Only who was told that the connection is lost wants to hear that it is back.
  if (isShown && shownFor !== downSince) setShownFor(downSince);
  // A break that is over before it was told is not told afterwards because an earlier one was.
  if (isDown && !isShown && shownFor !== undefined && shownFor !== downSince)
    setShownFor(undefined);
  const isBack = useIsRecent(comeback?.at) && shownFor !== undefined && !isDown;
  if (isShown) {
    const retryAt = "retryAt" in connection ? connection.retryAt : undefined;
    return (
      <div className={styles.banner} data-tone="warn">
        <Icon name="refresh" size={15} />
        <p role="status">Reconnecting, data as of {wallClock(dataAsOf)}</p>
        {retryAt !== undefined && (
          <span className={styles.next} aria-hidden="true">
            next try in {Math.max(0, Math.ceil((retryAt - now) / 1000))} s
          </span>
        )}
        <Button size="small" onClick={() => hub.retryNow()}>
          Retry now
        </Button>
      </div>
    );
  }
  if (!isBack || !comeback) return null;
  return (
    <div className={styles.banner} data-tone="ok">
      <Icon name="check" size={15} />
      <p role="status">Back online, {plural(comeback.updates, "update")}</p>
    </div>
  );
}

/** True for a short while after a moment. */
function useIsRecent(at: number | undefined): boolean {
  const [over, setOver] = useState<number>();
  useEffect(() => {
    if (at === undefined) return;
    const timer = setTimeout(() => setOver(at), BACK_FOR_MS);
    return () => clearTimeout(timer);
  }, [at]);
  return at !== undefined && over !== at;
}
