import type { ReactNode } from "react";
import styles from "./Headline.module.css";

interface TileProps {
  title: string;
  value: string;
  note?: string;
  children?: ReactNode;
}

/** One number with its name, and what belongs to it. */
export function Tile({ title, value, note, children }: TileProps) {
  return (
    <div className={styles.tile} data-tile={title}>
      <dt>{title}</dt>
      <dd className={styles.value}>{value}</dd>
      {note && <dd className={styles.note}>{note}</dd>}
      {children && <dd className={styles.more}>{children}</dd>}
    </div>
  );
}
