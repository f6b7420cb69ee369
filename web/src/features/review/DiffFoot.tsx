import { useState } from "react";
import { keysOf } from "../../actions/keymap";
import type { Review, ReviewDiff } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Icon } from "../../ui/Icon";
import { KeyCaps } from "../../ui/KeyCaps";
import { AppliedBar } from "./AppliedBar";
import { ApplyDialog } from "./ApplyDialog";
import { REVIEW } from "./actions";
import type { Verdict } from "./changes";
import styles from "./DiffFoot.module.css";
import { cliFor } from "./deskContext";
import { reviewPath } from "./queries";
import { whyNoUndo } from "./useDiffKeys";
import type { ReviewDesk } from "./useReviewDesk";

const CAN = "review:update:own";

/** How much is decided, and what can be done with all of it. */
export function DiffFoot({
  review,
  diff,
  desk,
}: {
  review: Review;
  diff: ReviewDiff;
  desk: ReviewDesk;
}) {
  const [isApplying, setApplying] = useState(false);
  const { accepted, rejected, undecided } = diff.tally;
  const { bead } = review;
  const isOpen = review.status === "review";
  return (
    <footer className={styles.foot}>
      <p className={styles.tally} role="status" data-tally>
        {accepted} accepted, {rejected} rejected, {undecided} undecided
      </p>
      <span className={styles.acts}>
        {(["accepted", "rejected"] as const).map((verdict) => (
          <DecideAll key={verdict} bead={bead} verdict={verdict} desk={desk} />
        ))}
        <Guarded
          size="small"
          look="quiet"
          side="above"
          can={CAN}
          cli={cliFor("undo", bead)}
          refused={whyNoUndo(review, diff)}
          onClick={desk.undoLast}
        >
          Undo <KeyCaps keys={keysOf(REVIEW.undo)[0] ?? ""} />
        </Guarded>
        <a
          className={styles.export}
          href={reviewPath(bead, "/patch")}
          download={`${bead}.patch`}
          title={`${cliFor("export", bead)} > ${bead}.patch`}
        >
          Export .patch
        </a>
        <Guarded
          size="small"
          look="solid"
          side="above"
          can={CAN}
          destructive
          cli={cliFor("apply", bead)}
          refused={isOpen ? undefined : `${bead} is ${review.status} and not in review.`}
          onClick={() => setApplying(true)}
        >
          Apply…
        </Guarded>
      </span>
      {review.applied && <AppliedBar review={review} applied={review.applied} />}
      {isApplying && <ApplyDialog review={review} diff={diff} onClose={() => setApplying(false)} />}
    </footer>
  );
}

function DecideAll({ bead, verdict, desk }: { bead: string; verdict: Verdict; desk: ReviewDesk }) {
  const isYes = verdict === "accepted";
  return (
    <Guarded
      size="small"
      side="above"
      can={CAN}
      cli={cliFor(isYes ? "accept" : "reject", bead, "--all")}
      onClick={() => desk.decideAll(verdict)}
    >
      <Icon name={isYes ? "check" : "cross"} size={13} /> {isYes ? "Accept all" : "Reject all"}
    </Guarded>
  );
}
