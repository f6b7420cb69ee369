import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../../actions/actions";
import type { Review, ReviewDiff, ReviewFile, ReviewRow } from "../../api/types";
import type { PageProps } from "../../pages";
import { navigate } from "../../router/router";
import { Boundary } from "../../ui/Boundary";
import { Button } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { plural } from "../../ui/format";
import { Loaded } from "../../ui/Loaded";
import { PageHead } from "../../ui/PageHead";
import { SkeletonRows } from "../../ui/Skeleton";
import { PartialBadge } from "../../ui/Status";
import { Segmented } from "../../ui/Tabs";
import { SpawnFirst } from "../agents/SpawnFirst";
import { REVIEW_PAGE } from "../beads/waiting";
import { useProject } from "../projects/queries";
import { REVIEW } from "./actions";
import { Conversation } from "./Conversation";
import { DiffPane } from "./DiffPane";
import { Panes } from "./Panes";
import { reviewQueries } from "./queries";
import styles from "./ReviewPage.module.css";
import { ReviewQueue } from "./ReviewQueue";
import { headKey } from "./rows";
import { type DiffLook, useDiffLook } from "./useDiffLook";
import { useReviewDesk } from "./useReviewDesk";
import { useSince } from "./useSince";

/** What agents have done and people have not decided yet. */
export function Page({ rest }: PageProps) {
  const { projectId } = useProject();
  const [most, setMost] = useState<number>(REVIEW_PAGE);
  const queue = useQuery(reviewQueries.queue(projectId, most));
  const look = useDiffLook();
  const rows = queue.data?.items ?? [];
  const bead = rest[0];
  useNextReview(rows, bead);
  return (
    <>
      <PageHead
        title="Review"
        note={
          queue.data && (
            <>
              {plural(rows.length, "change")} waiting{" "}
              {queue.data.isCut && (
                <PartialBadge kind="limited" why={`Only the first ${rows.length}`} />
              )}
            </>
          )
        }
        acts={bead !== undefined && <LookTools look={look} />}
      />
      <Opened bead={bead} look={look} hasQueue={rows.length > 0}>
        <Boundary what="The queue">
          <Loaded query={queue} what="The reviews" skeleton={<SkeletonRows height={84} rows={4} />}>
            {({ items, isCut }) =>
              items.length === 0 ? (
                <Empty
                  icon="review"
                  why="Nothing waits for a review. What an agent has done comes here."
                  action={<SpawnFirst />}
                  cli="godel review list"
                />
              ) : (
                <>
                  <ReviewQueue rows={items} {...(bead !== undefined && { chosen: bead })} />
                  {isCut && (
                    <Button
                      disabled={queue.isPlaceholderData}
                      onClick={() => setMost(most + REVIEW_PAGE)}
                    >
                      Show {REVIEW_PAGE} more
                    </Button>
                  )}
                </>
              )
            }
          </Loaded>
        </Boundary>
      </Opened>
    </>
  );
}

function useNextReview(rows: readonly ReviewRow[], bead: string | undefined): void {
  const next = rows[(rows.findIndex((row) => row.bead === bead) + 1) % Math.max(1, rows.length)];
  useAction(
    REVIEW.nextReview,
    () => next && navigate(`/review/${encodeURIComponent(next.bead)}${window.location.search}`),
    { when: next !== undefined && next.bead !== bead },
  );
}

function LookTools({ look }: { look: DiffLook }) {
  return (
    <>
      <Button
        size="small"
        aria-pressed={look.hidesSpace}
        onClick={() => look.setHidesSpace(!look.hidesSpace)}
      >
        Hide white space
      </Button>
      <Segmented
        label="Show as"
        options={[
          { id: "unified", title: "Unified" },
          { id: "split", title: "Split" },
        ]}
        value={look.isSplit ? "split" : "unified"}
        onChange={(shape) => look.setSplit(shape === "split")}
      />
    </>
  );
}

interface OpenedProps {
  bead: string | undefined;
  look: DiffLook;
  /** Whether there is anything to choose from. */
  hasQueue: boolean;
  /** The queue. */
  children: React.ReactNode;
}

/** The three panes, with the change that the address names. */
function Opened({ bead, look, hasQueue, children }: OpenedProps) {
  const review = useQuery({ ...reviewQueries.one(bead ?? ""), enabled: bead !== undefined });
  const diff = useQuery({ ...reviewQueries.diff(bead ?? ""), enabled: bead !== undefined });
  if (bead === undefined) {
    return (
      <Panes
        front="queue"
        queue={children}
        diff={
          hasQueue && (
            <Empty icon="review" why="Choose a change from the queue to see what it does." />
          )
        }
        talk={<p className={styles.hint}>What was said about a change is here.</p>}
      />
    );
  }
  if (review.data && diff.data) {
    return (
      <Desk key={bead} review={review.data} diff={diff.data} look={look}>
        {children}
      </Desk>
    );
  }
  return (
    <Panes
      front="diff"
      queue={children}
      diff={
        <Loaded query={diff} what="The change" skeleton={<SkeletonRows height={40} />}>
          {() => null}
        </Loaded>
      }
      talk={
        <Loaded query={review} what="The review" skeleton={<SkeletonRows rows={4} />}>
          {() => null}
        </Loaded>
      }
    />
  );
}

/** A file of the change as a line of the palette. */
function fileStep({ path, added, removed }: ReviewFile, run: () => void) {
  const note = `+${added} −${removed}`;
  return { id: `file ${path}`, group: "Files", title: path, note, icon: "review" as const, run };
}

interface DeskProps {
  review: Review;
  diff: ReviewDiff;
  look: DiffLook;
  children: React.ReactNode;
}

function Desk({ review, diff: whole, look, children }: DeskProps) {
  const since = useSince(review, whole);
  const { diff } = since;
  const desk = useReviewDesk(review, diff, since.isOld);
  const [goal, setGoal] = useState<{ key: string; times: number }>();
  const onGo = (key: string) => setGoal((now) => ({ key, times: (now?.times ?? 0) + 1 }));
  const goTo = (file: ReviewFile) => {
    if (!desk.viewed.isFolded(file)) desk.setCursor(file.key ?? file.hunks[0]?.key);
    onGo(headKey(file.path));
  };
  useAction(REVIEW.goFile, () => {}, {
    when: diff.files.length > 0,
    steps: () => diff.files.map((file) => fileStep(file, () => goTo(file))),
  });
  return (
    <Panes
      front="diff"
      queue={children}
      diff={
        <Boundary what="The change">
          <DiffPane review={review} since={since} desk={desk} look={look} goal={goal} />
        </Boundary>
      }
      talk={
        <Boundary what="The conversation">
          <Conversation review={review} desk={desk} onGo={onGo} />
        </Boundary>
      }
    />
  );
}
