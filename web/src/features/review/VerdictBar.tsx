import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Review } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { useCan } from "../../roles/session";
import { Link } from "../../router/Link";
import { Icon } from "../../ui/Icon";
import { asSentence } from "../../ui/Sentence";
import { beadQueries } from "../beads/queries";
import { useForeign } from "../beads/useForeign";
import { useApprove } from "./changes";
import { cliFor } from "./deskContext";
import { RequestDialog } from "./RequestDialog";
import styles from "./VerdictBar.module.css";

const CAN = "review:update:own";

/** The last word about a change; what is in the way of it is listed. */
export function VerdictBar({ review }: { review: Review }) {
  const [isAsking, setAsking] = useState(false);
  const { bead, blocked } = review;
  const approve = useApprove(bead, review.commit ?? undefined);
  const isApproved = review.approval != null && review.approval.commit === review.commit;
  const inTheWay = blocked.length > 0 ? blocked.map(asSentence).join(" ") : undefined;
  const foreign = useForeignReview(bead);
  const busy = approve.isPending ? "It is on its way." : undefined;
  return (
    <div className={styles.bar}>
      {blocked.length > 0 && (
        <section className={styles.blocked} aria-label="What is in the way">
          <p>It cannot be approved yet:</p>
          <ul>
            {blocked.map((why) => (
              <li key={why}>{asSentence(why)}</li>
            ))}
          </ul>
        </section>
      )}
      <div className={styles.acts}>
        <Guarded
          side="above"
          can={CAN}
          cli={cliFor("request-changes", bead)}
          refused={review.status === "done" ? `${bead} is done.` : foreign}
          onClick={() => setAsking(true)}
        >
          Request changes
        </Guarded>
        <Guarded
          side="above"
          can={CAN}
          cli={`${cliFor("approve", bead)} --no-land`}
          refused={inTheWay ?? (isApproved ? "This commit is approved already." : busy)}
          onClick={() => approve.mutate({ isApproved, land: false })}
        >
          <Icon name="check" size={15} />
          {isApproved ? "Approved" : "Approve"}
        </Guarded>
        <Guarded
          side="above"
          look="solid"
          can={CAN}
          destructive
          cli={isApproved ? `godel land ${bead}` : cliFor("approve", bead)}
          refused={inTheWay ?? busy}
          onClick={() => approve.mutate({ isApproved, land: true })}
        >
          <Icon name="merge" size={15} />
          {isApproved ? "Send to the merge queue" : "Approve and land"}
        </Guarded>
      </div>
      <Link to="/landing" className={styles.link}>
        Look at the merge queue
      </Link>
      {isAsking && <RequestDialog review={review} onClose={() => setAsking(false)} />}
    </div>
  );
}

/** Why changes cannot be asked for: the bead goes back to work by it, and some may move only their own. */
function useForeignReview(id: string): string | undefined {
  const foreign = useForeign();
  const isAll = useCan("bead:update:team");
  const { data } = useQuery({ ...beadQueries.one(id), enabled: !isAll });
  if (isAll) return undefined;
  return data ? foreign([data]) : "It is not known yet whose bead this is.";
}
