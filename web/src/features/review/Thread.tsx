import { memo, useState } from "react";
import type { ReviewComment } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Button } from "../../ui/Button";
import { Badge } from "../../ui/Status";
import { Time } from "../../ui/Time";
import { Composer } from "./Composer";
import { useDesk } from "./deskContext";
import styles from "./Thread.module.css";

interface ThreadProps {
  first: ReviewComment;
  answers: readonly ReviewComment[];
  /** Where it is, for the list of all; in the diff that is plain to see. */
  isPlaced?: boolean;
}

/** A comment with its answers. */
export const Thread = memo(function Thread({ first, answers, isPlaced = true }: ThreadProps) {
  const desk = useDesk();
  const [isAnswering, setAnswering] = useState(false);
  const isLost = isPlaced && first.path != null && first.line == null;
  return (
    <div className={styles.thread} data-thread>
      {isLost && (
        <p className={styles.lost}>
          The line is not in the change any more: <code>{first.quote}</code>
        </p>
      )}
      {[first, ...answers].map((comment) => (
        <Said key={comment.id} comment={comment} />
      ))}
      {isAnswering ? (
        <Composer
          name={`${desk.bead}.${first.id}`}
          label="Your answer"
          act="Answer"
          onSend={(text, draft) => {
            setAnswering(false);
            return desk.say({ text, replyTo: first.id }, draft);
          }}
          onCancel={() => setAnswering(false)}
        />
      ) : (
        <Guarded
          look="quiet"
          size="small"
          can="review:update:own"
          cli={`godel review comment ${desk.bead} TEXT --reply-to ${first.id}`}
          refused={first.id.startsWith("new ") ? "It is being sent." : undefined}
          onClick={() => setAnswering(true)}
        >
          Answer
        </Guarded>
      )}
    </div>
  );
});

function Said({ comment }: { comment: ReviewComment }) {
  return (
    <article className={styles.said}>
      <header className={styles.who}>
        <b>{comment.by.replace(/^user:/, "")}</b>
        <Time at={comment.at} />
        {comment.sent == null ? (
          <Badge tone="warn" title="It goes with all others when you request changes">
            Not sent yet
          </Badge>
        ) : (
          <Badge>Sent in round {comment.sent}</Badge>
        )}
      </header>
      <p className={styles.text}>{comment.text}</p>
    </article>
  );
}

/** A thread in the list of all, with the way to its line. */
export function PlacedThread({
  first,
  answers,
  onGo,
}: ThreadProps & { onGo: (comment: ReviewComment) => void }) {
  return (
    <li className={styles.placed}>
      {first.path != null && (
        <Button look="quiet" size="small" className={styles.place} onClick={() => onGo(first)}>
          <code>
            {first.path}
            {first.line ? `:${first.line}` : ""}
          </code>
        </Button>
      )}
      <Thread first={first} answers={answers} isPlaced={false} />
    </li>
  );
}
