import { type ComponentProps, useId } from "react";
import styles from "./LongField.module.css";

interface LongFieldProps extends Omit<ComponentProps<"textarea">, "id" | "className"> {
  label: string;
  /** One sentence below the box that a screen reader reads with it. */
  note?: string;
  /** What is wrong with what was typed, as a sentence. */
  error?: string | undefined;
  /** For source texts, in which every blank counts. */
  isSource?: boolean;
}

/** A labelled text of several lines. */
export function LongField({ label, note, error, isSource = false, ...rest }: LongFieldProps) {
  const id = useId();
  const said = [note && `${id}-note`, error !== undefined && `${id}-error`].filter(Boolean);
  return (
    <div className={styles.group}>
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className={isSource ? styles.source : styles.text}
        spellCheck={!isSource}
        wrap={isSource ? "off" : "soft"}
        aria-describedby={said.join(" ") || undefined}
        aria-invalid={error !== undefined || undefined}
        {...rest}
      />
      {note && (
        <p id={`${id}-note`} className={styles.note}>
          {note}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className={styles.error} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
