import { useId } from "react";
import { Icon } from "../Icon";
import styles from "./Choice.module.css";

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [value: T, title: string])[];
  onChange: (value: T) => void;
  note?: string;
}

/** A labelled choice of a form, as the system draws it. */
export function Choice<T extends string>({
  label,
  value,
  options,
  onChange,
  note,
}: ChoiceProps<T>) {
  const id = useId();
  return (
    <div className={styles.group}>
      <label htmlFor={id}>{label}</label>
      <div className={styles.box}>
        <select
          id={id}
          value={value}
          aria-describedby={note ? `${id}-note` : undefined}
          onChange={(event) => onChange(event.target.value as T)}
        >
          {options.map(([option, title]) => (
            <option key={option} value={option}>
              {title}
            </option>
          ))}
        </select>
        <Icon name="down" size={14} />
      </div>
      {note && (
        <p id={`${id}-note`} className={styles.note}>
          {note}
        </p>
      )}
    </div>
  );
}
