import { useRef } from "react";
import type { ReviewRow } from "../../api/types";
import { Link } from "../../router/Link";
import { useCalm } from "../../ui/calm";
import { classes } from "../../ui/classes";
import { count, plural } from "../../ui/format";
import { NewRows } from "../../ui/NewRows";
import { Badge, Status } from "../../ui/Status";
import { Time } from "../../ui/Time";
import { usePresence } from "../../ui/usePresence";
import styles from "./ReviewQueue.module.css";

const keyOf = (row: ReviewRow) => row.bead;

/** What waits for a person, in the order in which it should be looked at. */
export function ReviewQueue({ rows, chosen }: { rows: readonly ReviewRow[]; chosen?: string }) {
  const box = useRef<HTMLDivElement>(null);
  const calm = useCalm(rows, keyOf, usePresence(box));
  return (
    <div ref={box} className={styles.queue}>
      <NewRows waiting={calm.waiting} noun="review" onShow={calm.show} />
      <ul>
        {calm.rows.map((row) => (
          <li key={row.bead}>
            <Link
              to={`/review/${encodeURIComponent(row.bead)}`}
              className={classes(styles.entry, row.bead === chosen && styles.chosen)}
              aria-current={row.bead === chosen ? "true" : undefined}
              data-review={row.bead}
            >
              <span className={styles.title}>{row.title}</span>
              <span className={styles.facts}>
                <code>{row.bead}</code>
                <span>{plural(row.files, "file")}</span>
                <Size row={row} />
                <span className={styles.when}>
                  <Time at={row.waitingSince} />
                </span>
              </span>
              <span className={styles.marks}>
                <Checks gates={row.gates} />
                {row.approval && (
                  <Badge tone="ok" icon="check">
                    Approved
                  </Badge>
                )}
                {row.risks.map((risk) => (
                  <Badge key={risk} tone="warn" icon="alert">
                    {risk}
                  </Badge>
                ))}
                {row.pending > 0 && <Badge icon="message">{row.pending} unsent</Badge>}
                {row.rounds > 0 && <Badge>{plural(row.rounds, "round")}</Badge>}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** How many lines are new and gone. */
export function Size({ row }: { row: { added: number; removed: number } }) {
  return (
    <span className={styles.size}>
      <span className={styles.added}>+{count(row.added)}</span>{" "}
      <span className={styles.removed}>−{count(row.removed)}</span>
    </span>
  );
}

/** Whether the gates passed. */
export function Checks({ gates }: { gates?: boolean | null | undefined }) {
  if (gates === true) {
    return (
      <Status tone="ok" icon="check">
        Checks passed
      </Status>
    );
  }
  if (gates === false) {
    return (
      <Status tone="bad" icon="alert">
        Checks failed
      </Status>
    );
  }
  return (
    <Status tone="plain" icon="circle">
      No checks yet
    </Status>
  );
}
