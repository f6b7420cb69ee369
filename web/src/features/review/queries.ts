import { queryOptions, useQuery } from "@tanstack/react-query";
import { get } from "../../api/client";
import { queryOf } from "../../api/query";
import type { ReviewDiff } from "../../api/types";
import { refOf } from "../../realtime/items";
import { onLive } from "../../realtime/rules";
import { REVIEW_PAGE, readWork } from "../beads/waiting";
import { isOnTheWay } from "./order";

/** Keys of the cache: the queue, and of one bead its review and its diff. */
export const REVIEWS = ["reviews"] as const;
export const reviewKey = (bead: string) => ["review", bead] as const;
export const conflictsKey = (bead: string, commit?: string) =>
  ["review-conflicts", bead, ...(commit === undefined ? [] : [commit])] as const;
export const diffKey = (bead: string) => ["review-diff", bead] as const;

/** How many files are asked for at once, and how many are enough. */
const FILES = 500;
const FILES_MOST = 5_000;

/** The address of a review, or of something below it. */
export function reviewPath<const Below extends string = "">(
  bead: string,
  below = "" as Below,
  fields: Record<string, string> = {},
) {
  return `/api/v1/reviews/${encodeURIComponent(bead)}${below}${queryOf(fields)}` as const;
}

export const reviewQueries = {
  /** What waits longest, of a project or of all. */
  queue: (projectId?: string, most: number = REVIEW_PAGE) =>
    queryOptions({
      queryKey: [...REVIEWS, { projectId, most }] as const,
      queryFn: () => readWork(most, { projectId }),
      // Who asks for more goes on looking at what is there.
      placeholderData: (known, query) =>
        query?.queryKey[1].projectId === projectId ? known : undefined,
    }),
  one: (bead: string) =>
    queryOptions({ queryKey: reviewKey(bead), queryFn: () => get(reviewPath(bead)) }),
  /** Where the work conflicts with its branch; what is on either side may have moved since. */
  conflicts: (bead: string, commit: string | undefined) =>
    queryOptions({
      queryKey: conflictsKey(bead, commit),
      queryFn: () => get(reviewPath(bead, "/conflicts")),
      staleTime: 0,
    }),
  diff: (bead: string) => queryOptions({ queryKey: diffKey(bead), queryFn: () => readDiff(bead) }),
};

/** All files of a change; they come in pages. */
async function readDiff(bead: string): Promise<ReviewDiff> {
  const page = (from: number) => {
    const fields = { view: "split", limit: String(FILES), from: String(from) };
    return get(reviewPath(bead, "/diff", fields));
  };
  let diff = await page(0);
  while (diff.next != null && diff.files.length < FILES_MOST) {
    const more = await page(diff.next);
    // The agent pushed in between: two halves of different changes make no change.
    if (more.head !== diff.head) return readDiff(bead);
    const files = [...diff.files, ...more.files];
    diff = { ...diff, next: more.next ?? null, cut: diff.cut || more.cut, files };
  }
  return diff;
}

// A push alone is no event of the bead, but what is reviewed is another then.
onLive({
  on: ["review:*", "bead:*", "landing:*", "agent:commit"],
  invalidate: (event) => {
    const bead = refOf(event, "beadId");
    return bead === undefined || isOnTheWay(bead)
      ? [REVIEWS]
      : [REVIEWS, reviewKey(bead), diffKey(bead), conflictsKey(bead)];
  },
});

/** How many reviews wait for a person. */
export function useWaitingReviews(): number | undefined {
  const { data } = useQuery(reviewQueries.queue());
  return data?.items.filter((row) => row.approval == null).length;
}
