import { useEffect, useMemo, useRef } from "react";
import type { Review, ReviewDecision } from "../../api/types";
import { Empty } from "../../ui/Empty";
import { type Flow, useFlow } from "../../ui/flow/useFlow";
import { PartialBadge } from "../../ui/Status";
import { DiffFoot } from "./DiffFoot";
import styles from "./DiffPane.module.css";
import { changedSince, DeskProvider } from "./deskContext";
import { FileHead } from "./FileHead";
import { RowView } from "./RowView";
import { type DiffRow, type FileRows, HEIGHT, rowsOf } from "./rows";
import { SinceBar } from "./SinceBar";
import { useDiffKeys } from "./useDiffKeys";
import type { DiffLook } from "./useDiffLook";
import { useLinePointer } from "./useLinePointer";
import type { ReviewDesk } from "./useReviewDesk";
import type { Since } from "./useSince";
import { useTokens } from "./useTokens";

interface DiffPaneProps {
  review: Review;
  since: Since;
  desk: ReviewDesk;
  look: DiffLook;
  /** The file or line that the reader asked for, and how often. */
  goal: { key: string; times: number } | undefined;
}

/** The whole change below each other; only what is in sight is drawn. */
export function DiffPane({ review, since, desk, look, goal }: DiffPaneProps) {
  const { diff } = since;
  const box = useRef<HTMLDivElement>(null);
  const { rows, files } = useRows(review, since, desk, look);
  const flow = useFlow(box, rows);
  useLinePointer(box, desk);
  useDiffKeys({ review, diff, desk, look });
  useShown(flow, rows, desk, goal);
  const changed = useMemo(() => changedByPath(review.decisions), [review.decisions]);
  const inView = files.filter(({ first, end }) => end > flow.first && first < flow.end);
  const tokens = useTokens(
    inView.map(({ file }) => file),
    desk.expanded,
  );
  return (
    <DeskProvider value={desk.desk}>
      {since.offer && <SinceBar offer={since.offer} />}
      {(diff.cut || diff.next != null) && (
        <div className={styles.partial}>
          <PartialBadge
            kind="limited"
            why={
              diff.next == null
                ? "Some files have too many lines to show; they are decided as a whole"
                : `Only the first ${diff.files.length} of ${diff.total} files`
            }
          />
        </div>
      )}
      <section
        ref={box}
        className={styles.scroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must scroll by keyboard, too
        tabIndex={0}
        aria-label="Files"
        data-diff
      >
        {diff.files.length === 0 && (
          <Empty icon="review" why="The work changes nothing: there is nothing to decide." />
        )}
        <div className={styles.all} style={{ height: flow.total }}>
          {inView.map((span) => (
            <FileBlock
              key={span.file.path}
              span={span}
              flow={flow}
              rows={rows}
              desk={desk}
              isSplit={look.isSplit}
              changed={changed.get(span.file.path) ?? 0}
              tokens={tokens}
            />
          ))}
        </div>
      </section>
      <DiffFoot review={review} diff={diff} desk={desk} />
    </DeskProvider>
  );
}

function useRows(review: Review, { diff, isOld }: Since, desk: ReviewDesk, look: DiffLook) {
  const { isSplit, hidesSpace } = look;
  const { editing, composing, viewed, expanded } = desk;
  const edits = useMemo(() => {
    const written = review.decisions.filter((one) => one.bound === "bound" && one.text != null);
    const latest = new Map(review.decisions.map((one) => [one.key, one]));
    return new Map(
      written
        .filter((one) => latest.get(one.key) === one)
        .map((one) => [one.key, one.text ?? ""] as const),
    );
  }, [review.decisions]);
  return useMemo(
    () =>
      rowsOf(diff.files, {
        isSplit,
        hidesSpace,
        isFolded: viewed.isFolded,
        comments: diff.comments.filter((comment) => comment.path != null),
        edits,
        editing,
        composing,
        expanded,
        isOld,
      }),
    [diff, isSplit, hidesSpace, viewed.isFolded, edits, editing, composing, expanded, isOld],
  );
}

function changedByPath(decisions: readonly ReviewDecision[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { path } of changedSince(decisions)) counts.set(path, (counts.get(path) ?? 0) + 1);
  return counts;
}

/** Scrolls to the hunk under the cursor, to an open editor, and to what the reader asked for. */
function useShown(
  flow: Flow,
  rows: readonly DiffRow[],
  { cursor, editing, composing }: ReviewDesk,
  goal: DiffPaneProps["goal"],
): void {
  const show = useRef(flow.show);
  show.current = flow.show;
  const found = useRef(rows);
  found.current = rows;
  useEffect(() => {
    // Only where the reader went: nothing jumps when a page opens or an agent pushes.
    if (cursor === undefined) return;
    const index = found.current.findIndex((row) => isPart(row, cursor));
    if (index >= 0) show.current(index, HEIGHT.head + 4);
  }, [cursor]);
  useEffect(() => {
    if (editing === undefined && composing === undefined) return;
    const index = found.current.findIndex(({ kind }) => kind === "editor" || kind === "compose");
    if (index >= 0) show.current(index, HEIGHT.head * 2);
  }, [editing, composing]);
  useEffect(() => {
    if (!goal) return;
    const index = found.current.findIndex(
      // A row of a file, or a row of whichever file; never one whose path only ends like it.
      ({ key }) => key === goal.key || key.endsWith(`\u0000${goal.key}`),
    );
    if (index >= 0) show.current(index, HEIGHT.head + 4);
  }, [goal]);
}

function isPart(row: DiffRow, key: string): boolean {
  if (row.kind === "hunk") return row.hunk.key === key;
  return row.kind === "part" && row.file.key === key;
}

interface FileBlockProps {
  span: FileRows;
  flow: Flow;
  rows: readonly DiffRow[];
  desk: ReviewDesk;
  isSplit: boolean;
  changed: number;
  tokens: ReturnType<typeof useTokens>;
}

/** One file: its head sticks to the top for as long as the file is in sight. */
function FileBlock({ span, flow, rows, desk, isSplit, changed, tokens }: FileBlockProps) {
  const { file, first, end } = span;
  const top = flow.offsets[first] ?? 0;
  const height = (flow.offsets[end] ?? top) - top;
  const from = Math.max(first + 1, flow.first);
  const isFolded = desk.viewed.isFolded(file);
  return (
    <section
      className={styles.file}
      style={{ top, height }}
      aria-label={file.path}
      data-file={file.path}
    >
      <FileHead
        file={file}
        isFolded={isFolded}
        isViewed={desk.viewed.isViewed(file)}
        changed={changed}
      />
      {rows.slice(from, Math.min(end, flow.end)).map((row, index) => (
        <RowView
          key={row.key}
          row={row}
          top={(flow.offsets[from + index] ?? 0) - top}
          measure={flow.measure}
          desk={desk}
          isSplit={isSplit}
          tokens={tokens(file)}
        />
      ))}
    </section>
  );
}
