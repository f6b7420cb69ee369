import styles from "./Facts.module.css";
import { Money } from "./Money";
import { ShortId } from "./ShortId";
import { Time } from "./Time";

/** A text that somebody else may have written, or what is shown the same everywhere. */
export type FactValue = string | { at: string } | { id: string } | { micros: number };

/** A name and its value. */
export type Fact = readonly [string, FactValue];

/** A few names and their values. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name} className={styles.fact}>
          <dt>{name}</dt>
          <dd>
            <FactText value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A value as it is shown everywhere. */
export function FactText({ value }: { value: FactValue }) {
  if (typeof value === "string") return <bdi>{value}</bdi>;
  if ("at" in value) return <Time at={value.at} />;
  if ("id" in value) return <ShortId id={value.id} />;
  return <Money micros={value.micros} />;
}
