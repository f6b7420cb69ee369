import { useMemo } from "react";
import { classes } from "../../../ui/classes";
import { duration } from "../../../ui/format";
import { StateBadge } from "../StateBadge";
import { lookOf } from "../states";
import styles from "./Gantt.module.css";
import { depthsOf } from "./layers";
import { barsOf, ticksOf } from "./story";
import type { Told } from "./told";

/** When each step ran: one line for each, on one line of time. */
export function Gantt({ run, steps, way, now, chosen, onChoose }: Told) {
  const { bars, seconds } = barsOf(run, steps, now);
  const rows = useMemo(() => {
    const depths = depthsOf(steps);
    return steps.toSorted((a, b) => (depths.get(a.id) ?? 0) - (depths.get(b.id) ?? 0));
  }, [steps]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by key
    <section className={styles.box} aria-label="When each step ran" tabIndex={0}>
      <div className={styles.axis} aria-hidden="true">
        {ticksOf(seconds).map((tick) => (
          <span key={tick} style={{ left: `${(tick / seconds) * 100}%` }}>
            {duration(tick)}
          </span>
        ))}
      </div>
      <ol className={styles.rows}>
        {rows.map((step) => {
          const bar = bars.get(step.id);
          return (
            <li key={step.id}>
              <button
                type="button"
                className={styles.row}
                data-bar={step.id}
                aria-pressed={step.id === chosen}
                onClick={() => onChoose(step.id)}
              >
                <span className={styles.name}>
                  <bdi>{step.id}</bdi>
                  <StateBadge state={step.state} />
                </span>
                <span className={styles.line}>
                  {bar ? (
                    <span
                      className={classes(
                        styles.bar,
                        styles[lookOf(step.state).tone],
                        way.includes(step.id) && styles.decisive,
                      )}
                      style={{ left: `${bar.left}%`, width: `${bar.width}%` }}
                    />
                  ) : null}
                  <span
                    className={styles.text}
                    style={{ left: `${bar ? bar.left + bar.width : 0}%` }}
                  >
                    {bar ? duration(bar.took) : "not begun"}
                    {bar && (
                      <span className="visually-hidden">
                        , begun {duration(bar.from)} after the run
                      </span>
                    )}
                  </span>
                </span>
              </button>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
