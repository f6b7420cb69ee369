import { useQuery } from "@tanstack/react-query";
import type { Bead } from "../../../api/types";
import { Guarded } from "../../../roles/Guarded";
import { useRefusal } from "../../../roles/session";
import { Loaded } from "../../../ui/Loaded";
import { SkeletonRows } from "../../../ui/Skeleton";
import { Time } from "../../../ui/Time";
import { Told } from "../../../ui/Told";
import { useDraft } from "../../../ui/useDraft";
import { MAY_CREATE } from "../actions";
import { useComment } from "../changes";
import { beadQueries } from "../queries";
import styles from "./BeadPanel.module.css";
import { Markdown } from "./Markdown";

/** What was said about it, and what was done to it. */
export function Activity({ bead }: { bead: Bead }) {
  const log = useQuery(beadQueries.log(bead.id));
  return (
    <>
      <section className={styles.section} aria-label="Comments">
        <h3>Comments</h3>
        {bead.comments.map((comment) => (
          <article key={comment.id} className={styles.comment}>
            <p className={styles.by}>
              <span>{comment.by.replace(/^user:/, "")}</span>
              <Time at={comment.at} />
            </p>
            <Markdown source={comment.text} />
          </article>
        ))}
        <CommentForm bead={bead} />
      </section>
      <section className={styles.section} aria-label="What happened">
        <h3>What happened</h3>
        <Loaded query={log} what="The diary" skeleton={<SkeletonRows rows={3} />}>
          {(entries) => (
            <ol className={styles.log}>
              {entries.map((entry) => (
                <li key={entry.commit}>
                  <span className={styles.soft}>
                    <Time at={entry.at} />
                  </span>
                  <span>
                    <Told text={entry.line} />
                  </span>
                </li>
              ))}
            </ol>
          )}
        </Loaded>
      </section>
    </>
  );
}

function CommentForm({ bead }: { bead: Bead }) {
  const [text, setText, clear] = useDraft(`bead.${bead.id}.comment`);
  const comment = useComment(bead);
  const isEmpty = text.trim() === "";
  const refused = useRefusal(MAY_CREATE) ?? (isEmpty ? "Write something first." : undefined);
  const send = () => {
    if (refused !== undefined || comment.isPending) return;
    comment.mutate(text.trim(), { onSuccess: clear });
  };
  return (
    <>
      <textarea
        className={styles.area}
        aria-label="Write a comment"
        placeholder="Write a comment"
        rows={3}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) send();
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
      <div className={styles.acts}>
        <Guarded
          size="small"
          can={MAY_CREATE}
          refused={refused}
          cli={`godel bead comment ${bead.id} "..."`}
          onClick={send}
        >
          Comment
        </Guarded>
      </div>
    </>
  );
}
