import { count } from "../../ui/format";
import { useNow } from "../../ui/useNow";
import styles from "./RateChart.module.css";
import { RATE_WINDOW_SECS, type RateMeter } from "./rate";

const HEIGHT = 26;
const STEP = 3;

/** Events per second over the last minute: a bar per second and the latest figure. */
export function RateChart({ rate }: { rate: RateMeter }) {
  const now = useNow(1_000);
  const series = rate.series(now);
  const peak = Math.max(4, ...series);
  const latest = series.at(-1) ?? 0;
  return (
    <div className={styles.rate}>
      <svg
        className={styles.chart}
        width={RATE_WINDOW_SECS * STEP}
        height={HEIGHT}
        viewBox={`0 0 ${RATE_WINDOW_SECS * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${count(latest)} events in the last second, at most ${count(Math.max(...series))} in the last minute`}
      >
        {series.map((value, index) => {
          const height = value === 0 ? 1 : Math.max(3, Math.round((value / peak) * HEIGHT));
          return (
            <rect
              // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place in the minute
              key={index}
              x={index * STEP}
              y={HEIGHT - height}
              width={STEP - 1}
              height={height}
              className={value === 0 ? styles.none : styles.bar}
            />
          );
        })}
      </svg>
      <span className={styles.figure}>
        {count(latest)}
        <span className={styles.unit}>/s</span>
      </span>
    </div>
  );
}
