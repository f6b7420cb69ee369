import { type ComponentProps, useId, useState } from "react";
import styles from "./Field.module.css";
import { Icon } from "./Icon";

interface FieldProps extends Omit<ComponentProps<"input">, "id"> {
  label: string;
  /** One sentence below the input that a screen reader reads with it. */
  note?: string;
}

/** A labelled line of text. Names and codes are no prose, so nothing may correct them. */
export function TextField({ label, note, className, ...rest }: FieldProps) {
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
        aria-describedby={note ? `${id}-note` : undefined}
        {...rest}
      />
      {note && <Note id={id} text={note} />}
    </div>
  );
}

/** A labelled secret that its owner can look at. */
export function SecretField({ label, note, ...rest }: Omit<FieldProps, "type" | "className">) {
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
          aria-describedby={note ? `${id}-note` : undefined}
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
