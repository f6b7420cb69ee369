import { type KeyboardEvent, type PointerEvent, useRef } from "react";
import { classes } from "./classes";
import styles from "./PaneBorder.module.css";

const LEAST = 180;
/** How far an arrow key moves a border. */
const STEP = 24;

interface PaneBorderProps {
  label: string;
  width: number;
  most: number;
  /** Whether the pane grows to the right or to the left. */
  sign: 1 | -1;
  onChange: (width: number) => void;
  className?: string | undefined;
}

/** The border of a pane: drawn with the pointer, moved with arrow keys. */
export function PaneBorder({ label, width, most, sign, onChange, className }: PaneBorderProps) {
  const from = useRef<{ x: number; width: number } | undefined>(undefined);
  const set = (next: number) => onChange(Math.round(Math.min(most, Math.max(LEAST, next))));
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowRight: STEP, ArrowLeft: -STEP }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    set(width + sign * by);
  };
  const onPointerMove = ({ clientX }: PointerEvent) => {
    if (from.current) set(from.current.width + sign * (clientX - from.current.x));
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a border that can be moved is no thematic break
    <div
      className={classes(styles.border, className)}
      role="separator"
      aria-label={label}
      aria-orientation="vertical"
      aria-valuenow={width}
      aria-valuemin={LEAST}
      aria-valuemax={most}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { x: event.clientX, width };
      }}
      onPointerMove={onPointerMove}
      onPointerUp={() => {
        from.current = undefined;
      }}
    />
  );
}
