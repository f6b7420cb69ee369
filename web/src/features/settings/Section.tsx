import type { ReactNode } from "react";
import styles from "./Section.module.css";

interface SectionProps {
  title: string;
  /** One sentence: what it is for. */
  lead: ReactNode;
  /** What people come here for, on the right. */
  acts?: ReactNode;
  children: ReactNode;
}

/** One section of the settings. */
export function Section({ title, lead, acts, children }: SectionProps) {
  return (
    <div className={styles.section}>
      <header className={styles.head}>
        <div>
          <h2 className={styles.title}>{title}</h2>
          <p className={styles.lead}>{lead}</p>
        </div>
        {acts}
      </header>
      {children}
    </div>
  );
}

/** A part of a section under a head of its own. */
export function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** A few things below each other, in one frame. */
export function Lines({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul className={styles.lines} aria-label={label}>
      {children}
    </ul>
  );
}

interface LineProps {
  /** Its name, for tests and for those who look at the page's source. */
  id: string;
  title: ReactNode;
  note?: ReactNode;
  /** States and choices. */
  state?: ReactNode;
  acts?: ReactNode;
}

/** One thing: what it is called, how it is, what can be done with it. */
export function Line({ id, title, note, state, acts }: LineProps) {
  return (
    <li className={styles.line} data-line={id}>
      <div className={styles.words}>
        <p className={styles.name}>{title}</p>
        {note && <div className={styles.note}>{note}</div>}
      </div>
      {state && <div className={styles.state}>{state}</div>}
      {acts && <div className={styles.acts}>{acts}</div>}
    </li>
  );
}
