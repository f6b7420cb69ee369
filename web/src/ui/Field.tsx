import { type ComponentProps, useId, useState } from "react";
import styles from "./Field.module.css";
import { Icon } from "./Icon";

interface FieldProps extends Omit<ComponentProps<"input">, "id"> {
  label: string;
  /** One sentence below the input that a screen reader reads with it. */
  note?: string;
  /** What is wrong with what was typed, as a sentence. */
  error?: string | undefined;
}

/** A labelled line of text. Names and codes are no prose, so nothing may correct them. */
export function TextField({ label, note, error, className, ...rest }: FieldProps) {
  const id = useId();
  const classes = [styles.input, className].filter(Boolean).join(" ");
  return (
    <div className={styles.group}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className={classes}
        autoCapitalize="off"
        spellCheck={false}
        aria-describedby={describedBy(id, note, error)}
        aria-invalid={error !== undefined || undefined}
        {...rest}
      />
      {note && <Note id={id} text={note} />}
      {error !== undefined && <Wrong id={id} text={error} />}
    </div>
  );
}

/** A labelled secret that its owner can look at. */
export function SecretField({
  label,
  note,
  error,
  ...rest
}: Omit<FieldProps, "type" | "className">) {
  const [isShown, setShown] = useState(false);
  const id = useId();
  return (
    <div className={styles.group}>
      <label htmlFor={id}>{label}</label>
      <div className={styles.secret}>
        <input
          id={id}
          className={styles.input}
          type={isShown ? "text" : "password"}
          autoCapitalize="off"
          spellCheck={false}
          aria-describedby={describedBy(id, note, error)}
          aria-invalid={error !== undefined || undefined}
          {...rest}
        />
        <button
          type="button"
          className={styles.eye}
          aria-pressed={isShown}
          aria-label={`Show the ${label.toLowerCase()}`}
          onClick={() => setShown(!isShown)}
        >
          <Icon name="eye" size={18} />
        </button>
      </div>
      {note && <Note id={id} text={note} />}
      {error !== undefined && <Wrong id={id} text={error} />}
    </div>
  );
}

function Note({ id, text }: { id: string; text: string }) {
  return (
    <p id={`${id}-note`} className={styles.note}>
      {text}
    </p>
  );
}

function Wrong({ id, text }: { id: string; text: string }) {
  return (
    <p id={`${id}-error`} className={styles.error} role="alert">
      {text}
    </p>
  );
}

function describedBy(id: string, note?: string, error?: string): string | undefined {
  const parts = [note && `${id}-note`, error !== undefined && `${id}-error`].filter(Boolean);
  return parts.length > 0 ? parts.join(" ") : undefined;
}
