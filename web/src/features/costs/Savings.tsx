import type { UsageTotals } from "../../api/types";
import { dollars } from "../../ui/format";
import { Hint } from "../../ui/Hint";
import styles from "./Savings.module.css";
import { savingsOf } from "./savings";

/** What was not spent in the time that is shown, because of caches and of routing. */
export function Savings({ totals }: { totals: UsageTotals }) {
  return (
    <dl className={styles.savings} aria-label="Savings in this time">
      {savingsOf(totals).map(({ id, title, micros, value, why }) => (
        <div key={id} className={styles.saving} data-saving={id} data-saved-micros={micros}>
          <dt>{title}</dt>
          <dd>
            <Hint text={micros > 0 ? `$${dollars(micros)}. ${why}` : why}>
              {(describedBy) => (
                <span
                  className={styles.value}
                  role="note"
                  // biome-ignore lint/a11y/noNoninteractiveTabindex: the reckoning is told to keys as well
                  tabIndex={0}
                  aria-describedby={describedBy}
                >
                  {value}
                </span>
              )}
            </Hint>
          </dd>
        </div>
      ))}
    </dl>
  );
}
