import { Hint } from "../../ui/Hint";
import styles from "./Figures.module.css";

/** A number with how it came about. */
export interface Figure {
  id: string;
  title: string;
  micros: number;
  value: string;
  /** How it is reckoned, or why there is none. */
  why: string;
}

/** Numbers in a row; each says where it comes from, to the mouse and to keys. */
export function Figures({ label, figures }: { label: string; figures: readonly Figure[] }) {
  return (
    <dl className={styles.figures} aria-label={label}>
      {figures.map(({ id, title, micros, value, why }) => (
        <div key={id} className={styles.figure} data-figure={id} data-figure-micros={micros}>
          <dt>{title}</dt>
          <dd>
            <Hint text={why}>
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

/** Keeps their place until they are there: what is below does not jump. */
export function FiguresToCome() {
  return <div className={styles.toCome} />;
}
