import { useState } from "react";
import type { Review } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { ShortId } from "../../ui/ShortId";
import { Time } from "../../ui/Time";
import styles from "./AppliedBar.module.css";
import { ConflictView } from "./ConflictView";
import { useUnapply } from "./changes";
import dialogStyles from "./Dialogs.module.css";
import { cliFor } from "./deskContext";

/** What was applied last, for as long as nothing came since: its commit, and how to take it back. */
export function AppliedBar({
  review,
  applied,
}: {
  review: Review;
  applied: NonNullable<Review["applied"]>;
}) {
  const [isComparing, setComparing] = useState(false);
  const { bead, target } = review;
  const unapply = useUnapply(bead);
  return (
    <section className={styles.bar} aria-label="Applied" data-applied-bar>
      <p className={styles.words}>
        Applied as <ShortId id={applied.commit} /> by {applied.by}, <Time at={applied.at} />
      </p>
      <span className={styles.acts}>
        <Button size="small" look="quiet" onClick={() => setComparing(true)}>
          Compare with {target}
        </Button>
        <Guarded
          size="small"
          side="above"
          can="review:update:own"
          cli={`${cliFor("unapply", bead)} --commit ${applied.commit}`}
          refused={
            review.status === "done"
              ? `${bead} has landed; revert it in the merge queue.`
              : unapply.isPending
                ? "It is being undone."
                : undefined
          }
          onClick={() => unapply.mutate({ commit: applied.commit })}
        >
          Undo apply
        </Guarded>
      </span>
      {isComparing && (
        <Dialog title={`${bead} and ${target}`} onClose={() => setComparing(false)} isWide>
          <div className={dialogStyles.stack}>
            <ConflictView bead={bead} commit={applied.commit} target={target} />
            <div className={dialogStyles.acts}>
              <Button look="solid" onClick={() => setComparing(false)}>
                Close
              </Button>
            </div>
          </div>
        </Dialog>
      )}
    </section>
  );
}
