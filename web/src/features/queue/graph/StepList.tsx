import { duration } from "../../../ui/format";
import { Badge } from "../../../ui/Status";
import { StateBadge } from "../StateBadge";
import { tookSeconds } from "../states";
import styles from "./StepList.module.css";
import { triesOf } from "./story";
import type { Told } from "./told";

/** The steps as text, in the order of the workflow: everything that the picture says. */
export function StepList({ steps, way, attempts, now, chosen, onChoose }: Told) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by key
    <section className={styles.box} aria-label="Steps as a list" tabIndex={0}>
      <ol className={styles.rows}>
        {steps.map((step) => {
          const took = tookSeconds(step.startedAt, step.finishedAt, now);
          const tries = triesOf(step, attempts.get(step.id) ?? 0);
          return (
            <li key={step.id} className={styles.item}>
              <button
                type="button"
                className={styles.row}
                data-line={step.id}
                aria-pressed={step.id === chosen}
                onClick={() => onChoose(step.id)}
              >
                <span className={styles.name}>
                  <bdi>{step.id}</bdi>
                  {step.kind !== "task" && <Badge>{step.kind}</Badge>}
                  {way.includes(step.id) && <Badge tone="info">critical</Badge>}
                </span>
                <span className={styles.state}>
                  <StateBadge state={step.state} />
                </span>
                <span className={styles.note}>
                  {step.dependsOn.length > 0 && <span>after {step.dependsOn.join(", ")}</span>}
                  {tries.map((words) => (
                    <span key={words}>{words}</span>
                  ))}
                  {took !== undefined && <span className="tabular">took {duration(took)}</span>}
                </span>
                {step.error && <span className={styles.bad}>{step.error}</span>}
              </button>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
