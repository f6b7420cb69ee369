import { useState } from "react";
import type { Review, ReviewDiff } from "../../api/types";
import { ToastsHere } from "../../change/Toaster";
import { Guarded } from "../../roles/Guarded";
import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { Dialog } from "../../ui/Dialog";
import { plural } from "../../ui/format";
import { Notice } from "../../ui/Notice";
import { ShortId } from "../../ui/ShortId";
import { ConflictView } from "./ConflictView";
import { useApply, useUnapply } from "./changes";
import styles from "./Dialogs.module.css";
import { cliFor } from "./deskContext";

type Undecided = "keep" | "leave_out";

interface ApplyDialogProps {
  review: Review;
  diff: ReviewDiff;
  onClose: () => void;
}

/** Asks what becomes of what is undecided, commits, and tells what came of it. */
export function ApplyDialog({ review, diff, onClose }: ApplyDialogProps) {
  // The numbers are those of the moment in which it was asked for.
  const [{ accepted, rejected, undecided }] = useState(diff.tally);
  const [chosen, setChosen] = useState<Undecided>();
  const apply = useApply(review.bead, diff.head);
  const { bead } = review;
  const needs = undecided > 0 && chosen === undefined;
  const option = chosen ? ` --undecided ${chosen.replace("_", "-")}` : "";
  if (apply.data)
    return <Outcome bead={bead} review={review} data={apply.data} onClose={onClose} />;
  return (
    <Dialog title={`Apply what was accepted of ${bead}`} onClose={onClose}>
      <div className={styles.stack}>
        <p>
          A commit in your name on the branch of the bead: {accepted} accepted stay, {rejected}{" "}
          rejected go, and what you edited is as you wrote it. Nothing else is touched.
        </p>
        {undecided > 0 && (
          <fieldset className={styles.choice}>
            <legend>{plural(undecided, "part")} not decided yet</legend>
            {(["keep", "leave_out"] as const).map((one) => (
              <label key={one}>
                <input
                  type="radio"
                  name="undecided"
                  checked={chosen === one}
                  onChange={() => setChosen(one)}
                />
                {one === "keep" ? "Keep them, as if accepted" : "Leave them out, as if rejected"}
              </label>
            ))}
          </fieldset>
        )}
        {apply.error && (
          <Notice tone="bad">
            <p>{apply.error.message}</p>
          </Notice>
        )}
        <Cli command={`${cliFor("apply", bead)}${option}`} />
        <div className={styles.acts}>
          <Button onClick={onClose}>Cancel</Button>
          <Guarded
            look="solid"
            side="above"
            can="review:update:own"
            destructive
            refused={
              needs
                ? "Say first what becomes of what is undecided."
                : apply.isPending
                  ? "It is being applied."
                  : undefined
            }
            onClick={() => apply.mutate({ undecided: chosen })}
          >
            Apply
          </Guarded>
        </div>
        <ToastsHere />
      </div>
    </Dialog>
  );
}

function Outcome({
  bead,
  review,
  data,
  onClose,
}: {
  bead: string;
  review: Review;
  data: NonNullable<ReturnType<typeof useApply>["data"]>;
  onClose: () => void;
}) {
  const { commit, conflicts } = data;
  const unapply = useUnapply(bead);
  return (
    <Dialog title="Applied" onClose={onClose} isWide={conflicts.length > 0}>
      <div className={styles.stack}>
        {commit ? (
          <>
            <p data-applied>
              The branch of {bead} is at your commit <ShortId id={commit} />.
            </p>
            <p className={styles.soft}>
              Undo adds a commit with the files from before; nothing goes from the history.
            </p>
            <Cli command={cliFor("unapply", bead)} />
          </>
        ) : (
          <p>All of it was accepted as it is, so there is nothing to commit.</p>
        )}
        {conflicts.length > 0 && (
          <ConflictView bead={bead} commit={commit ?? undefined} target={review.target} />
        )}
        {unapply.error && (
          <Notice tone="bad">
            <p>{unapply.error.message}</p>
          </Notice>
        )}
        <div className={styles.acts}>
          {commit && (
            <Guarded
              side="above"
              can="review:update:own"
              cli={cliFor("unapply", bead)}
              refused={unapply.isPending ? "It is being undone." : undefined}
              onClick={() => unapply.mutate({ commit }, { onSuccess: onClose })}
            >
              Undo
            </Guarded>
          )}
          <Button look="solid" onClick={onClose}>
            Close
          </Button>
        </div>
        <ToastsHere />
      </div>
    </Dialog>
  );
}
