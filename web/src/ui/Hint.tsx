import { type ReactNode, type SyntheticEvent, useId } from "react";
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
    // biome-ignore lint/a11y/noStaticElementInteractions: nothing is done here, the hint only moves
    <span className={styles.box} onPointerEnter={keepInside} onFocus={keepInside}>
      {children(id)}
      <span id={id} role="tooltip" className={styles.hint} data-side={side} data-align={align}>
        {text}
      </span>
    </span>
  );
}

/** Room between a hint and the edge of what shows it. */
const MARGIN = 8;

/** Moves a hint that would be cut off by the page, or by a part of it that scrolls. */
function keepInside({ currentTarget }: SyntheticEvent<HTMLElement>): void {
  const hint = currentTarget.querySelector<HTMLElement>(":scope > [role='tooltip']");
  if (!hint) return;
  hint.style.translate = "";
  const { left, right } = hint.getBoundingClientRect();
  const frame = frameOf(currentTarget);
  const isOver = Math.max(0, right - (frame.right - MARGIN));
  const isUnder = Math.max(0, frame.left + MARGIN - left);
  if (isOver + isUnder > 0) hint.style.translate = `${isUnder - isOver}px 0`;
}

function frameOf(element: HTMLElement): DOMRect {
  let parent = element.parentElement;
  while (parent && getComputedStyle(parent).overflowX === "visible") parent = parent.parentElement;
  return (parent ?? document.documentElement).getBoundingClientRect();
}
