import { useId, useState } from "react";
import type { Review, ReviewComment } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { Dialog } from "../../ui/Dialog";
import { plural } from "../../ui/format";
import { useDraft } from "../../ui/useDraft";
import { useRequestChanges } from "./changes";
import styles from "./Dialogs.module.css";
import { cliFor } from "./deskContext";
import { keepAsked } from "./rounds";

/** Shows what goes to the agent as one message, and sends it. */
export function RequestDialog({ review, onClose }: { review: Review; onClose: () => void }) {
  const { bead } = review;
  const id = useId();
  const [text, setText, clear] = useDraft(`review.${bead}.request`);
  const [noAgent, setNoAgent] = useState(false);
  const request = useRequestChanges(bead);
  const waiting = review.comments.filter((comment) => comment.sent == null);
  const { rejected } = review.tally;
  const isNothing = waiting.length === 0 && rejected === 0 && text.trim() === "";
  const send = async () => {
    try {
      const { round } = await request.mutateAsync({ text, noAgent });
      if (review.commit) keepAsked(bead, { round, head: review.commit });
      clear();
      onClose();
    } catch {
      // The message of the refusal is shown by the change itself; the words stay.
    }
  };
  return (
    <Dialog title={`Request changes of ${bead}`} onClose={onClose}>
      <div className={styles.stack}>
        <p>
          {plural(waiting.length, "comment")} and {rejected} rejected go to an agent as one message,
          and the bead is open again.
        </p>
        {waiting.length > 0 && <Waiting comments={waiting} />}
        <label htmlFor={id} className={styles.label}>
          Anything else
          <textarea
            id={id}
            className={styles.text}
            rows={3}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        <label className={styles.check}>
          <input
            type="checkbox"
            checked={!noAgent}
            onChange={(event) => setNoAgent(!event.target.checked)}
          />
          Let an agent begin at once
        </label>
        <Cli command={`${cliFor("request-changes", bead)}${noAgent ? " --no-agent" : ""}`} />
        <div className={styles.acts}>
          <Button onClick={onClose}>Cancel</Button>
          <Guarded
            look="solid"
            side="above"
            can="review:update:own"
            destructive
            refused={
              isNothing
                ? "Comment on a line, reject a hunk, or say what you want."
                : request.isPending
                  ? "It is being sent."
                  : undefined
            }
            onClick={send}
          >
            Send
          </Guarded>
        </div>
      </div>
    </Dialog>
  );
}

/** What the agent is told besides what was rejected. */
function Waiting({ comments }: { comments: readonly ReviewComment[] }) {
  return (
    <ul className={styles.files} aria-label="Comments that are sent">
      {comments.map((comment) => (
        <li key={comment.id}>
          {comment.path && (
            <>
              <code>
                {comment.path}
                {comment.line ? `:${comment.line}` : ""}
              </code>{" "}
            </>
          )}
          {comment.text}
        </li>
      ))}
    </ul>
  );
}
