import type { ReactNode } from "react";
import { Button } from "./Button";
import { Cli } from "./Cli";
import styles from "./Empty.module.css";
import { Icon, type IconName } from "./Icon";

interface EmptyProps {
  icon?: IconName;
  /** One sentence: why there is nothing. */
  why: ReactNode;
  /** The one thing to do about it. */
  action?: ReactNode;
  /** The same on the command line. */
  cli?: string;
}

/** Nothing is here: why, and what to do about it. */
export function Empty({ icon, why, action, cli }: EmptyProps) {
  return (
    <div className={styles.empty} data-shows="empty">
      {icon && (
        <span className={styles.mark}>
          <Icon name={icon} size={20} />
        </span>
      )}
      <p className={styles.why}>{why}</p>
      {action}
      {cli && <Cli command={cli} />}
    </div>
  );
}

/** A filter that matches nothing says so and can be taken away. */
export function EmptyFilter({ what, onClear }: { what: string; onClear: () => void }) {
  return (
    <Empty
      icon="filter"
      why={`No ${what} match the filter.`}
      action={<Button onClick={onClear}>Clear the filter</Button>}
    />
  );
}
