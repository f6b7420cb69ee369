import { type FormEvent, type ReactNode, useId } from "react";
import { Icon } from "../../../ui/Icon";
import styles from "./fields.module.css";

/** A third member says that it cannot be chosen now. */
type Options = readonly (readonly [value: string, title: string, isRefused?: boolean])[];

interface FieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** Why it cannot be so; said at the field. */
  problem?: string | undefined;
  /** What is worth knowing before. */
  warning?: ReactNode;
  note?: string | undefined;
}

function Field({
  label,
  problem,
  warning,
  note,
  children,
}: FieldProps & { children: (id: string, says: string | undefined) => ReactNode }) {
  const id = useId();
  const text = problem ?? warning ?? note;
  const look = problem ? styles.problem : warning ? styles.warning : styles.note;
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children(id, text ? `${id}-says` : undefined)}
      {text && (
        <p id={`${id}-says`} className={look} role={problem ? "alert" : undefined}>
          {text !== note && <Icon name="alert" size={13} />}
          {text}
        </p>
      )}
    </div>
  );
}

/** A choice of words. */
export function Choice({ options, ...field }: FieldProps & { options: Options }) {
  return (
    <Field {...field}>
      {(id, says) => (
        <div className={styles.box}>
          <select
            id={id}
            className={styles.select}
            value={field.value}
            aria-invalid={field.problem !== undefined}
            aria-describedby={says}
            onChange={(event) => field.onChange(event.target.value)}
          >
            {options.map(([value, title, isRefused = false]) => (
              <option key={value} value={value} disabled={isRefused}>
                {title}
              </option>
            ))}
          </select>
          <Icon name="down" size={14} />
        </div>
      )}
    </Field>
  );
}

/** One line of text, with suggestions. */
export function Line({
  options = [],
  placeholder,
  ...field
}: FieldProps & { options?: Options; placeholder?: string }) {
  return (
    <Field {...field}>
      {(id, says) => (
        <>
          <input
            id={id}
            className={styles.input}
            list={options.length > 0 ? `${id}-known` : undefined}
            autoCapitalize="off"
            autoComplete="off"
            spellCheck={false}
            placeholder={placeholder}
            value={field.value}
            aria-invalid={field.problem !== undefined}
            aria-describedby={says}
            onChange={(event) => field.onChange(event.target.value)}
          />
          {options.length > 0 && (
            <datalist id={`${id}-known`}>
              {options.map(([value, title]) => (
                <option key={value} value={value}>
                  {title}
                </option>
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

/** Several lines of prose; Ctrl and Enter send. */
export function Words({
  placeholder,
  onSend,
  ...field
}: FieldProps & { placeholder: string; onSend: (event: FormEvent) => void }) {
  return (
    <Field {...field}>
      {(id, says) => (
        <textarea
          id={id}
          rows={4}
          // biome-ignore lint/a11y/noAutofocus: what a drawer is opened for comes first, not its close button
          autoFocus
          className={styles.words}
          placeholder={placeholder}
          value={field.value}
          aria-invalid={field.problem !== undefined}
          aria-describedby={says}
          onChange={(event) => field.onChange(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) onSend(event);
          }}
        />
      )}
    </Field>
  );
}
