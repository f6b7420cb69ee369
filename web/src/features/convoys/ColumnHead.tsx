import { classes } from "../../ui/classes";
import { count, money } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { Time } from "../../ui/Time";
import { type BeadStatus, STATUS_LOOKS } from "../beads/looks";
import styles from "./Board.module.css";
import type { ColumnSum } from "./board";
import type { HeldLimit } from "./useAgentLimit";

const LIMITS = [1, 2, 3, 4, 5, 8, 10, 15, 20, 30];

interface ColumnHeadProps {
  status: BeadStatus;
  sum: ColumnSum;
  /** How many are in it, also those that a filter hides: a limit is about all of them. */
  total: number;
  /** How many are enough; this browser remembers it. */
  limit: number | undefined;
  onLimit: (limit: number | undefined) => void;
  /** How many the server lets in, instead of what this browser remembers. */
  held?: HeldLimit | undefined;
}

/** What a column is, how much is in it, and whether that is too much. */
export function ColumnHead({ status, sum, total, held, ...own }: ColumnHeadProps) {
  const { title, icon } = STATUS_LOOKS[status];
  const limit = held ? held.most : own.limit;
  const isOver = limit !== undefined && total > limit;
  return (
    <div className={classes(styles.head, isOver && styles.over)} data-column={status}>
      <Icon name={isOver ? "alert" : icon} size={14} />
      <h2>{title}</h2>
      <span className={styles.count} data-count title={held?.meaning}>
        {count(sum.count)}
        {limit !== undefined && (total === sum.count ? "" : ` shown, ${count(total)}`)}
        {limit !== undefined && ` of ${limit}`}
        {isOver && <span className="visually-hidden">, over the limit</span>}
      </span>
      <span className={styles.sums}>
        {sum.costMicros !== undefined && (
          <span className="tabular" title="What its beads cost">
            {money(sum.costMicros)}
          </span>
        )}
        {sum.oldest && (
          <span title="The oldest card">
            <Time at={sum.oldest} />
          </span>
        )}
      </span>
      <Menu
        label={`Limit of ${title}`}
        size="small"
        items={[undefined, ...choices(limit)].map((value) => ({
          id: String(value ?? "none"),
          title: value === undefined ? "No limit" : `At most ${value}`,
          isChosen: value === limit,
          can: held && "project:update:team",
          cli: held?.cli(value),
          run: () => (held ? held.set(value) : own.onLimit(value)),
        }))}
      />
    </div>
  );
}

/** What can be chosen, and whatever is chosen now. */
function choices(limit: number | undefined): readonly number[] {
  if (limit === undefined || LIMITS.includes(limit)) return LIMITS;
  return [...LIMITS, limit].sort((one, other) => one - other);
}
