import { useQuery } from "@tanstack/react-query";
import type { HealthCheck, HealthStatus, SystemMetrics } from "../../api/types";
import { bytes, clockTime, latency, plural, words } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Sentence } from "../../ui/Sentence";
import styles from "./HealthPanel.module.css";
import { healthQuery } from "./queries";
import { useLoad } from "./system";

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
        {data && !error && <Used />}
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

/** What the server uses; those who may not know see nothing of it. */
function Used() {
  const load = useLoad();
  if (load === null) return null;
  const memory = load?.metrics.memoryBytes;
  // Their places are there before they are known: what stands beside them must not move.
  return (
    <>
      <Figure
        name="Memory"
        text={typeof memory === "number" ? bytes(memory) : load && "not told"}
        title="Of the process that is in RAM"
      />
      <Figure
        name="Processor"
        text={load && `${load.cpuPercent.toFixed(load.cpuPercent < 10 ? 1 : 0)}%`}
        title={`100% is one core.${load ? ` ${openIn(load.metrics)}.` : ""}`}
      />
    </>
  );
}

/** What the server has open: `1 WebSocket, 40 open files`. */
function openIn({ webSockets, openFiles }: SystemMetrics): string {
  const files = typeof openFiles === "number" ? `, ${plural(openFiles, "open file")}` : "";
  return `${plural(webSockets, "WebSocket")}${files}`;
}

interface FigureProps {
  name: string;
  text: string | undefined;
  title: string;
}

function Figure({ name, text, title }: FigureProps) {
  return (
    <div className={styles.check} title={title} data-figure={name}>
      <dt className={styles.name}>{name}</dt>
      <dd className={styles.plain}>{text}</dd>
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
