import styles from "./WhatChanges.module.css";

/** A field that will be another, before and after. */
export interface Change {
  name: string;
  before: string;
  after: string;
}

/** What will be different once a form is saved. */
export function WhatChanges({ changes }: { changes: readonly Change[] }) {
  if (changes.length === 0) return null;
  return (
    <section className={styles.changes} aria-label="What will be different">
      <h3>What will be different</h3>
      <dl>
        {changes.map(({ name, before, after }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <del>{before || "nothing"}</del> <ins>{after || "nothing"}</ins>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
