import { type ReactNode, useId } from "react";
import styles from "./Hint.module.css";

interface HintProps {
  /** What is told on hover and on focus; nothing means no hint. */
  text: ReactNode;
  children: (describedBy: string | undefined) => ReactNode;
  /** On which side there is room. */
  side?: "below" | "above";
  /** At the right edge of a page a hint ends with its control. */
  align?: "middle" | "end" | undefined;
}

/** A sentence that belongs to a control: seen on hover and focus, read by a screen reader. */
export function Hint({ text, side = "below", align, children }: HintProps) {
  const id = useId();
  if (text === undefined || text === null || text === false) return children(undefined);
  return (
    <span className={styles.box}>
      {children(id)}
      <span id={id} role="tooltip" className={styles.hint} data-side={side} data-align={align}>
        {text}
      </span>
    </span>
  );
}
