import { useQuery } from "@tanstack/react-query";
import type { HealthCheck, HealthStatus } from "../../api/types";
import { bytes, clockTime, latency, words } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Sentence } from "../../ui/Sentence";
import styles from "./HealthPanel.module.css";
import { healthQuery } from "./queries";

const WORDS: Record<HealthStatus, string> = {
  healthy: "Healthy",
  degraded: "Degraded",
  unhealthy: "Unhealthy",
};

/** How the server is, in one strip: the verdict first, then each probe. */
export function HealthPanel() {
  const { data, error, dataUpdatedAt } = useQuery(healthQuery);
  const verdict = error ? "unhealthy" : data?.status;
  return (
    <section className={styles.panel} aria-label="Server health">
      <div className={styles.verdict}>
        <StatusMark status={verdict} size={34} />
        <div>
          <p className={styles.word} role="status">
            {error ? "Not reachable" : data ? WORDS[data.status] : "Checking"}
          </p>
          <p className={styles.note}>
            {error && data ? (
              `Figures as of ${clockTime(new Date(dataUpdatedAt).toISOString()).slice(0, 8)}`
            ) : data ? (
              `Godel ${data.version}`
            ) : error ? (
              <Sentence text={error.message} />
            ) : (
              "Asking the server"
            )}
          </p>
        </div>
      </div>
      <dl className={styles.checks}>
        {data
          ? Object.entries(data.checks).map(([name, check]) => (
              <Check key={name} name={name} check={check} isStale={error !== null} />
            ))
          : !error && <div className={styles.check} />}
      </dl>
    </section>
  );
}

function Check({ name, check, isStale }: { name: string; check: HealthCheck; isStale: boolean }) {
  return (
    <div className={styles.check} data-stale={isStale || undefined}>
      <dt className={styles.name}>
        <StatusMark status={check.status} size={15} />
        {words(name)}
        {check.status !== "healthy" && (
          <span className={styles[check.status]}> {WORDS[check.status]?.toLowerCase()}</span>
        )}
      </dt>
      <dd className={styles.figure}>{figure(check)}</dd>
      {check.message && <dd className={styles.note}>{check.message}</dd>}
    </div>
  );
}

/** A shape for each status, so that colour is never alone. */
function StatusMark({ status, size }: { status: HealthStatus | undefined; size: number }) {
  const icon = status === "healthy" ? "check" : status === "unhealthy" ? "cross" : "alert";
  return (
    <span className={`${styles.mark} ${status ? styles[status] : ""}`} data-size={size}>
      {status && <Icon name={icon} size={Math.round(size * 0.58)} />}
    </span>
  );
}

function figure(check: HealthCheck): string {
  const { freeBytes, latencyMs } = check;
  return typeof freeBytes === "number" ? `${bytes(freeBytes)} free` : latency(latencyMs);
}
