import { clockTime, count, plural } from "../../../ui/format";
import styles from "./TokenChart.module.css";
import { type Compaction, contextOf, KIND_TITLES, KINDS, MOST_STEPS, type Step } from "./usage";

const HEIGHT = 120;
const STEP = 12;
const BAR = 9;
const WIDTH = MOST_STEPS * STEP;

interface TokenChartProps {
  steps: readonly Step[];
  compactions: readonly Compaction[];
  /** What one step is: a request, or a whole turn. */
  noun: string;
}

/** The size of each request, kind by kind; a line stands where the conversation was made shorter. */
export function TokenChart({ steps, compactions, noun }: TokenChartProps) {
  const most = Math.max(1, ...steps.map(sizeOf));
  const first = steps[0];
  const last = steps.at(-1);
  if (!first || !last) return null;
  const cuts = compactions
    .filter(({ seq }) => seq > first.seq)
    .map(({ seq }) => steps.findIndex((step) => step.seq > seq))
    .map((at) => (at < 0 ? steps.length : at));
  const label = `Tokens of the last ${plural(steps.length, noun)}: from ${count(contextOf(first.tokens))} to ${count(contextOf(last.tokens))} of context`;
  return (
    <figure className={styles.figure}>
      <svg
        className={styles.chart}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        {steps.map((step, at) => (
          <Bar key={step.seq} step={step} x={at * STEP} scale={HEIGHT / most} />
        ))}
        {cuts.map((at) => (
          <line
            key={at}
            x1={at * STEP - 1.5}
            x2={at * STEP - 1.5}
            y2={HEIGHT}
            className={styles.cut}
          />
        ))}
      </svg>
      <figcaption className={styles.caption}>
        From {clockTime(first.at).slice(0, 5)} to {clockTime(last.at).slice(0, 5)}; the largest has{" "}
        {count(most)} tokens.{cuts.length > 0 && " A dashed line: it was made shorter."}
      </figcaption>
    </figure>
  );
}

const sizeOf = ({ tokens }: Step) => contextOf(tokens) + tokens.output;

function Bar({ step, x, scale }: { step: Step; x: number; scale: number }) {
  let top = HEIGHT;
  return (
    <g data-step={step.seq}>
      <title>
        {clockTime(step.at).slice(0, 8)}:{" "}
        {KINDS.map((kind) => `${KIND_TITLES[kind]} ${count(step.tokens[kind])}`).join(", ")}
      </title>
      {KINDS.map((kind) => {
        const height = step.tokens[kind] * scale;
        top -= height;
        return (
          <rect key={kind} x={x} y={top} width={BAR} height={height} className={styles[kind]} />
        );
      })}
    </g>
  );
}
