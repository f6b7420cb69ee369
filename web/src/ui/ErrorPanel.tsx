import { ApiError } from "../api/client";
import { serverTimestamp } from "../api/clock";
import { Link } from "../router/Link";
import { Button } from "./Button";
import { CopyButton } from "./CopyButton";
import styles from "./ErrorPanel.module.css";
import { Icon } from "./Icon";
import { Sentence } from "./Sentence";

interface ErrorPanelProps {
  /** What was tried: "The agents could not be loaded". */
  what: string;
  error: Error;
  onRetry?: () => void;
}

/** What failed and why, the id to look for in the log, and the way on. */
export function ErrorPanel({ what, error, onRetry }: ErrorPanelProps) {
  const { requestId, traceId, hint } = error instanceof ApiError ? error : {};
  return (
    <div className={styles.panel} role="alert" data-shows="error">
      <Icon name="alert" size={20} />
      <div className={styles.text}>
        <p className={styles.what}>
          <Sentence text={what} />
        </p>
        <p>
          <Sentence text={error.message} /> {hint && <Sentence text={hint} />}
        </p>
        {requestId && <p className={styles.request}>Request {requestId}</p>}
        <div className={styles.acts}>
          {onRetry && (
            <Button onClick={onRetry}>
              <Icon name="refresh" size={15} />
              Retry
            </Button>
          )}
          <CopyButton text={detailsOf(what, error)} label="Copy details" />
          <Link to={traceId ? `/?trace=${traceId}` : "/"} className={styles.logs}>
            {traceId ? "Look at its events" : "Look at the events"}
          </Link>
        </div>
      </div>
    </div>
  );
}

/** All that somebody needs who is asked for help. */
export function detailsOf(what: string, error: Error): string {
  const lines = [what, `${error.name}: ${error.message}`];
  if (error instanceof ApiError) {
    lines.push(`code ${error.code}, status ${error.status}`);
    if (error.requestId) lines.push(`request ${error.requestId}`);
    if (error.traceId) lines.push(`trace ${error.traceId}`);
  }
  lines.push(`page ${window.location.pathname}${window.location.search}`);
  lines.push(`at ${serverTimestamp()}`);
  return lines.join("\n");
}
