import styles from "./Checks.module.css";

interface ChecksProps {
  /** What they are, for a screen reader: "People who are told". */
  label: string;
  options: readonly (readonly [value: string, title: string])[];
  chosen: readonly string[];
  /** What is chosen after a click. */
  onChange: (chosen: readonly string[]) => void;
  /** No more can be chosen; what was chosen can still be taken out. */
  isFull?: boolean;
  /** The id of what says more about them. */
  describedBy?: string | undefined;
}

/** Some of many, each with a box to tick. */
export function Checks({
  label,
  options,
  chosen,
  onChange,
  isFull = false,
  describedBy,
}: ChecksProps) {
  return (
    <fieldset className={styles.list} aria-describedby={describedBy}>
      <legend className="visually-hidden">{label}</legend>
      {options.map(([value, title]) => {
        const isChosen = chosen.includes(value);
        return (
          <label key={value} className={styles.check}>
            <input
              type="checkbox"
              checked={isChosen}
              disabled={isFull && !isChosen}
              onChange={(event) =>
                onChange(
                  event.target.checked ? [...chosen, value] : chosen.filter((one) => one !== value),
                )
              }
            />
            <bdi>{title}</bdi>
          </label>
        );
      })}
    </fieldset>
  );
}
