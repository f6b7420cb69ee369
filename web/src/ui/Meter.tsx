import { classes } from "./classes";
import styles from "./Meter.module.css";

interface MeterProps {
  /** What it measures, for a screen reader: "Budget". */
  label: string;
  value: number;
  max: number;
  /** The same in words: "$0.12 of $5.00". */
  text: string;
  /** How much of the value is new, such as of today: that is drawn stronger than what is old. */
  newest?: number;
}

/** From here on a limit is near. */
const NEAR = 0.8;

/** How much of a limit is used; the colour follows, the text says it. */
export function Meter({ label, value, max, text, newest = 0 }: MeterProps) {
  const partOf = (amount: number) => (max > 0 ? Math.min(1, Math.max(0, amount / max)) : 0);
  const part = partOf(value);
  const old = newest > 0 ? Math.min(part, partOf(value - newest)) : 0;
  const tone = max > 0 && value >= max ? styles.over : part >= NEAR ? styles.near : undefined;
  return (
    // biome-ignore lint/a11y/useSemanticElements: browsers draw `meter` in colours of their own
    <div
      className={classes(styles.meter, tone)}
      role="meter"
      aria-label={label}
      aria-valuenow={Math.round(part * 100)}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuetext={text}
    >
      {old > 0 && <span data-old style={{ width: `${old * 100}%` }} />}
      <span style={{ width: `${(part - old) * 100}%` }} />
    </div>
  );
}

/** How far something is, as a ring with its number beside it. */
export function ProgressRing({ percent, size = 20 }: { percent: number; size?: number }) {
  const radius = size / 2 - 2;
  const around = 2 * Math.PI * radius;
  const done = Math.min(100, Math.max(0, percent));
  return (
    <span
      className={styles.ring}
      role="progressbar"
      aria-label="Done"
      aria-valuenow={Math.round(done)}
      aria-valuemin={0}
      aria-valuemax={100}
    >
      <svg width={size} height={size} aria-hidden="true">
        <circle cx={size / 2} cy={size / 2} r={radius} className={styles.track} />
        <circle
          cx={size / 2}
          cy={size / 2}
          r={radius}
          className={styles.done}
          strokeDasharray={`${(around * done) / 100} ${around}`}
          transform={`rotate(-90 ${size / 2} ${size / 2})`}
        />
      </svg>
      <span className="tabular">{Math.round(done)}%</span>
    </span>
  );
}
