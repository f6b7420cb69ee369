import type { ReactNode } from "react";
import { Button } from "../Button";
import { plural } from "../format";
import styles from "./BulkBar.module.css";

interface BulkBarProps {
  count: number;
  /** One of them: "agent". */
  noun: string;
  onClear: () => void;
  /** Buttons for all that are selected; `Guarded` ones. */
  children: ReactNode;
}

/** What can be done with many at once. */
export function BulkBar({ count, noun, onClear, children }: BulkBarProps) {
  return (
    <section className={styles.bar} aria-label="Selection" data-bulk-bar>
      <span className={styles.count} role="status">
        {plural(count, noun)} selected
      </span>
      {children}
      <Button look="quiet" size="small" onClick={onClear}>
        Clear
      </Button>
    </section>
  );
}
