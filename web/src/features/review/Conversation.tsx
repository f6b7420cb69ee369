import { useMemo } from "react";
import type { Review, ReviewComment, ReviewDecision } from "../../api/types";
import { Button } from "../../ui/Button";
import { ShortId } from "../../ui/ShortId";
import { Badge, Status } from "../../ui/Status";
import { Time } from "../../ui/Time";
import { BeadPreview } from "../previews/BeadPreview";
import { Composer } from "./Composer";
import styles from "./Conversation.module.css";
import { changedSince, DeskProvider } from "./deskContext";
import { Checks } from "./ReviewQueue";
import { headKey, threadsOf } from "./rows";
import { PlacedThread } from "./Thread";
import type { ReviewDesk } from "./useReviewDesk";
import { VerdictBar } from "./VerdictBar";

interface ConversationProps {
  review: Review;
  desk: ReviewDesk;
  /** Goes to a file, or to a thread in it. */
  onGo: (key: string) => void;
}

/** What was said and decided, and what comes of it. */
export function Conversation({ review, desk, onGo }: ConversationProps) {
  const threads = useMemo(() => [...threadsOf(review.comments).values()].flat(), [review.comments]);
  const changed = changedSince(review.decisions);
  const goTo = (comment: ReviewComment) => onGo(`thread ${comment.id}`);
  return (
    <DeskProvider value={desk.desk}>
      <div className={styles.talk}>
        <Facts review={review} />
        <BeadPreview bead={{ id: review.bead }} />
        {review.firstPass && <FirstPass review={review} />}
        {changed.length > 0 && <Changed decisions={changed} onGo={onGo} />}
        <section aria-label="Comments">
          <h2 className={styles.head}>Comments</h2>
          {threads.length === 0 && (
            <p className={styles.soft}>
              Nobody has said anything. Choose a line and press c, or write below.
            </p>
          )}
          <ul>
            {threads.map((thread) => (
              <PlacedThread key={thread.first.id} {...thread} onGo={goTo} />
            ))}
          </ul>
        </section>
        <Composer
          name={`${review.bead}.all`}
          label="About all of it"
          act="Add comment"
          cli={`godel review comment ${review.bead} TEXT`}
          hasFocus={false}
          onSend={(text, draft) => desk.desk.say({ text }, draft)}
        />
      </div>
      <VerdictBar review={review} />
    </DeskProvider>
  );
}

function Facts({ review }: { review: Review }) {
  return (
    <header className={styles.facts}>
      <h2 className={styles.title}>{review.title}</h2>
      <p className={styles.line}>
        <ShortId id={review.bead} />
        <span>for {review.target}</span>
        {review.commit && (
          <span>
            at <ShortId id={review.commit} />
          </span>
        )}
      </p>
      <p className={styles.line}>
        <Checks gates={review.gates} />
        {review.risks.map((risk) => (
          <Badge key={risk} tone="warn" icon="alert">
            {risk}
          </Badge>
        ))}
      </p>
      {review.approval && (
        <p className={styles.line}>
          <Status tone="ok" icon="check">
            Approved
          </Status>
          <span>
            by {review.approval.by.replace(/^user:/, "")}, <Time at={review.approval.at} />
          </span>
        </p>
      )}
    </header>
  );
}

function FirstPass({ review }: { review: Review }) {
  const pass = review.firstPass;
  if (!pass) return null;
  const looks = pass.approves == null;
  return (
    <section className={styles.card} aria-label="What an agent found">
      <p className={styles.line}>
        <b>{pass.agent}</b>
        {looks ? (
          <Status tone="info" icon="eye">
            Still looking
          </Status>
        ) : pass.approves ? (
          <Status tone="ok" icon="check">
            Would let it land
          </Status>
        ) : (
          <Status tone="bad" icon="alert">
            Would not let it land
          </Status>
        )}
      </p>
      {pass.summary && <p className={styles.words}>{pass.summary}</p>}
    </section>
  );
}

function Changed({
  decisions,
  onGo,
}: {
  decisions: readonly ReviewDecision[];
  onGo: (key: string) => void;
}) {
  return (
    <section className={styles.card} aria-label="Changed since you decided">
      <p className={styles.line}>
        <Status tone="warn" icon="alert">
          Changed since you decided
        </Status>
      </p>
      <p className={styles.soft}>These are others now, and undecided again:</p>
      <ul>
        {decisions.map((one) => (
          <li key={`${one.key} ${one.at} ${one.lines?.from ?? ""}`}>
            <Button
              look="quiet"
              size="small"
              className={styles.place}
              onClick={() => onGo(headKey(one.path))}
            >
              <code>{one.path}</code>
            </Button>{" "}
            {one.verdict}
          </li>
        ))}
      </ul>
    </section>
  );
}
