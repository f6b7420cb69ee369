import { type ReactNode, useEffect, useState } from "react";
import { classes } from "./classes";
import styles from "./Skeleton.module.css";

/** A quick answer needs no skeleton: it would only flash. */
const AFTER_MS = 150;

/** How many skeletons are in sight. */
let shown = 0;

/** Its children after a short while; until then their room, empty. */
export function Late({ children, afterMs = AFTER_MS }: { children: ReactNode; afterMs?: number }) {
  // One that follows another, as data follow the code of a page, is there at once: no blink between.
  const [isShown, setShown] = useState(() => shown > 0);
  useEffect(() => {
    if (isShown) {
      shown += 1;
      return () => {
        shown -= 1;
      };
    }
    const timer = setTimeout(() => setShown(true), afterMs);
    return () => clearTimeout(timer);
  }, [isShown, afterMs]);
  return (
    <div className={classes(styles.late, !isShown && styles.hidden)} data-shows="loading">
      {children}
    </div>
  );
}

/** A bar in the place of what comes. */
export function Bone({ width, height }: { width?: number | string; height?: number | string }) {
  return <span className={styles.bone} style={{ width, height }} aria-hidden="true" />;
}

/** Rows of the height that the real ones will have. */
export function SkeletonRows({ rows = 8, height = 36 }: { rows?: number; height?: number }) {
  return (
    <Late>
      <p className="visually-hidden" role="status">
        Loading
      </p>
      {Array.from({ length: rows }, (_, at) => at).map((at) => (
        <div key={at} className={styles.row} style={{ height }}>
          <Bone width={16} height={16} />
          <Bone width={`${28 + ((at * 17) % 34)}%`} height={12} />
          <Bone width={64} height={12} />
        </div>
      ))}
    </Late>
  );
}

interface SkeletonCardsProps {
  cards?: number;
  height?: number;
  /** One below the other. */
  isStack?: boolean;
}

/** Cards of the size that the real ones will have. */
export function SkeletonCards({ cards = 6, height = 150, isStack = false }: SkeletonCardsProps) {
  return (
    <Late>
      <p className="visually-hidden" role="status">
        Loading
      </p>
      <div className={classes(styles.cards, isStack && styles.stack)}>
        {Array.from({ length: cards }, (_, at) => at).map((at) => (
          <div key={at} className={styles.card} style={{ height }}>
            <Bone width="45%" height={14} />
            <Bone width="80%" height={12} />
            <Bone width="60%" height={12} />
          </div>
        ))}
      </div>
    </Late>
  );
}
