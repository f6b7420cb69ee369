import { type ReactNode, type Ref, useId } from "react";
import { classes } from "./classes";
import { Icon } from "./Icon";
import styles from "./PageHead.module.css";

interface PageHeadProps {
  title: string;
  /** A word or a badge beside the title: how many, how old. */
  note?: ReactNode;
  /** Filters and views, on the left below or beside the title. */
  tools?: ReactNode;
  /** Buttons on the right; the last one is what people come here for. */
  acts?: ReactNode;
}

/** The top of a page: what it is, how to look at it, what to do. */
export function PageHead(props: PageHeadProps) {
  const { title, note, tools, acts } = props;
  return (
    <div className={styles.head}>
      {/* A note that is not known yet has its room: what stands beside it must not move when it comes. */}
      <div className={classes(styles.titles, "note" in props && styles.noted)}>
        <h1 className={styles.title}>{title}</h1>
        {note && <div className={styles.note}>{note}</div>}
      </div>
      {tools && <div className={styles.tools}>{tools}</div>}
      {acts && <div className={styles.acts}>{acts}</div>}
    </div>
  );
}

interface FilterBoxProps {
  label: string;
  placeholder: string;
  value: string;
  onChange: (value: string) => void;
  ref?: Ref<HTMLInputElement>;
}

/** A line to filter by; `/` goes there if the page binds `FILTER` to its focus. */
export function FilterBox({ label, placeholder, value, onChange, ref }: FilterBoxProps) {
  const id = useId();
  return (
    <div className={styles.filter}>
      <label htmlFor={id} className="visually-hidden">
        {label}
      </label>
      <Icon name="search" size={14} />
      <input
        ref={ref}
        id={id}
        value={value}
        placeholder={placeholder}
        autoCapitalize="off"
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          if (value === "") event.currentTarget.blur();
          else onChange("");
        }}
      />
      {value !== "" && (
        <button type="button" aria-label="Clear the filter" onClick={() => onChange("")}>
          <Icon name="clear" size={13} />
        </button>
      )}
    </div>
  );
}

interface SelectProps {
  label: string;
  value: string;
  /** The first one stands for all. */
  options: readonly (readonly [value: string, title: string])[];
  onChange: (value: string) => void;
}

/** A choice of many words, as the system draws it. */
export function Select({ label, value, options, onChange }: SelectProps) {
  const id = useId();
  // Only what can be left open is marked when it narrows the page.
  const isSet = value !== "" && options.some(([option]) => option === "");
  return (
    <div className={styles.select} data-set={isSet || undefined}>
      <label htmlFor={id} className="visually-hidden">
        {label}
      </label>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map(([option, title]) => (
          <option key={option} value={option}>
            {title}
          </option>
        ))}
      </select>
      <Icon name="down" size={13} />
    </div>
  );
}
