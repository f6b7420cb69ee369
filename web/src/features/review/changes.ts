import { post, remove } from "../../api/client";
import { serverTimestamp } from "../../api/clock";
import type {
  Landing,
  Review,
  ReviewApplied,
  ReviewComment,
  ReviewDecision,
  ReviewDiff,
  ReviewFile,
  ReviewPart,
  ReviewTally,
} from "../../api/types";
import { type Rehearsal, useChange } from "../../change/useChange";
import { shortId } from "../../ui/format";
import { type Draft, forgetDraft } from "../../ui/useDraft";
import { decidedByKey, standingOf } from "./decided";
import { inOrder, isOnTheWay } from "./order";
import { diffKey, REVIEWS, reviewKey, reviewPath } from "./queries";
import { partKeys } from "./rows";

/** What a person says about a part. */
export type Verdict = "accepted" | "rejected";

/** Some parts of a change and the word about them. */
export interface Decision {
  verdict: Verdict;
  /** Nothing means all that there is. */
  parts: readonly ReviewPart[];
  /** How it is called in a message: `src/main.rs:2`. */
  name: string;
}

const WORDS: Record<Verdict, string> = { accepted: "Accept", rejected: "Reject" };
/** Asked again when all was sent: what comes before would show less than the person has decided. */
const all = (bead: string) => (isOnTheWay(bead) ? [] : [reviewKey(bead), diffKey(bead), REVIEWS]);

/** Everything that can be done to the review of one bead. */
export function useReviewChanges(bead: string, commit: string | undefined, by: string) {
  const decide = useChange<Decision, Review>({
    what: ({ verdict, name }) => `${WORDS[verdict]} ${name}`,
    send: ({ verdict, parts }) => {
      const about = parts.length === 0 ? { all: true } : { parts: [...parts] };
      return inOrder(bead, () =>
        post(reviewPath(bead, "/decisions"), { verdict, commit, ...about }),
      );
    },
    expect: (cache, decision) => rehearse(cache, bead, decision, by),
    settle: () => all(bead),
  });
  const takeBack = useChange<{ key?: string }, Review>({
    what: () => "Take back what was decided",
    send: ({ key }) =>
      inOrder(bead, () => remove(reviewPath(bead, "/decisions", key ? { key } : {}))),
    expect: (cache, { key }) => {
      if (!key) return;
      setDecisions(cache, bead, new Set([key]), (all) => all.filter((one) => one.key !== key));
    },
    settle: () => all(bead),
  });
  const edit = useChange<{ key: string; draft: Draft; name: string }, Review>({
    what: ({ name }) => `Edit ${name}`,
    send: ({ key, draft }) =>
      inOrder(bead, () =>
        post(reviewPath(bead, "/edits"), { part: { key }, text: draft.text, commit }),
      ),
    done: taken,
    expect: (cache, { key, draft }) => {
      const made = (path: string) => ({ ...madeNow(by, path, key, "edited"), text: draft.text });
      addDecisions(cache, bead, (file) => (hasKey(file, key) ? [made(file.path)] : []));
    },
    settle: () => all(bead),
  });
  return { decide, takeBack, edit };
}

/** Shows a decision before the server has answered. */
export function rehearse(
  cache: Rehearsal,
  bead: string,
  { verdict, parts }: Decision,
  by: string,
): void {
  addDecisions(cache, bead, (file) => {
    const keys = partKeys([file]);
    const made = (key: string) => madeNow(by, file.path, key, verdict);
    if (parts.length === 0) return keys.map(made);
    return parts.flatMap((part) => {
      if (part.path === file.path) return keys.map(made);
      if (part.key == null || !keys.includes(part.key)) return [];
      return [{ ...made(part.key), lines: part.lines ?? null }];
    });
  });
}

/** A decision as the server will tell of it. */
function madeNow(by: string, path: string, key: string, verdict: string): ReviewDecision {
  return { path, key, verdict, bound: "bound", by, at: serverTimestamp() };
}

const hasKey = (file: ReviewFile, key: string) => partKeys([file]).includes(key);

/** Adds what was decided about each file, and counts again. */
function addDecisions(
  cache: Rehearsal,
  bead: string,
  about: (file: ReviewFile) => ReviewDecision[],
): void {
  let made: ReviewDecision[] = [];
  cache.update<ReviewDiff>(diffKey(bead), (diff) => {
    made = diff.files.flatMap(about);
    return diff;
  });
  const keys = new Set(made.map(({ key }) => key));
  setDecisions(cache, bead, keys, (before) => [...before, ...made]);
}

/** Sets what was decided, works out anew how the parts of these keys stand, and counts again. */
function setDecisions(
  cache: Rehearsal,
  bead: string,
  keys: ReadonlySet<string>,
  change: (before: readonly ReviewDecision[]) => ReviewDecision[],
): void {
  let decisions: ReviewDecision[] = [];
  cache.update<Review>(reviewKey(bead), (review) => {
    decisions = change(review.decisions);
    return { ...review, decisions };
  });
  const decided = decidedByKey(decisions);
  let tally: ReviewTally | undefined;
  cache.update<ReviewDiff>(diffKey(bead), (diff) => {
    const files = diff.files.map((file) => ({
      ...file,
      ...(file.key != null &&
        keys.has(file.key) && { standing: standingOf(decided.get(file.key)) }),
      hunks: file.hunks.map((hunk) =>
        keys.has(hunk.key) ? { ...hunk, standing: standingOf(decided.get(hunk.key), hunk) } : hunk,
      ),
    }));
    tally = tallyOf(files);
    return { ...diff, files, tally };
  });
  const counted = tally;
  if (counted) {
    cache.update<Review>(reviewKey(bead), (review) => ({ ...review, tally: counted }));
  }
}

/** Counts as the server does: what is edited is accepted, what is mixed is rejected. */
export function tallyOf(files: ReviewDiff["files"]): ReviewTally {
  const tally = { accepted: 0, rejected: 0, undecided: 0 };
  const count = (standing: string) => {
    if (standing === "accepted" || standing === "edited") tally.accepted += 1;
    else if (standing === "rejected" || standing === "mixed") tally.rejected += 1;
    else tally.undecided += 1;
  };
  for (const file of files) {
    if (file.key != null) count(file.standing ?? "undecided");
    for (const hunk of file.hunks) count(hunk.standing);
  }
  return tally;
}

/** Something to say about a line, a file, or all of it. */
export interface NewComment {
  text: string;
  path?: string;
  line?: number;
  side?: "old" | "new";
  replyTo?: string;
}

/** Says something; the agent hears it with everything else when changes are requested. */
export function useComment(bead: string, commit: string | undefined, by: string) {
  const show = (comment: NewComment): ReviewComment => ({
    id: `new ${comment.path ?? ""} ${comment.line ?? ""} ${comment.text}`,
    by,
    at: serverTimestamp(),
    text: comment.text,
    path: comment.path ?? null,
    line: comment.line ?? null,
    side: comment.side ?? null,
    replyTo: comment.replyTo ?? null,
    commit: commit ?? "",
  });
  return useChange<NewComment & { draft: Draft }, ReviewComment>({
    what: () => "Comment",
    send: ({ draft: _, ...comment }) => {
      // The answer to a comment belongs where that one is, even if the work is another by now.
      const seen = comment.replyTo === undefined ? { commit } : {};
      return post(reviewPath(bead, "/comments"), { ...comment, ...seen });
    },
    expect: (cache, comment) => {
      const add = <T extends { comments: ReviewComment[] }>(one: T): T => ({
        ...one,
        comments: [...one.comments, show(comment)],
      });
      cache.update<Review>(reviewKey(bead), add);
      if (comment.path !== undefined || comment.replyTo !== undefined) {
        cache.update<ReviewDiff>(diffKey(bead), add);
      }
    },
    done: taken,
    settle: () => all(bead),
  });
}

/** What was refused and then sent again is no draft any more. */
function taken({ draft }: { draft: Draft }): undefined {
  forgetDraft(draft);
}

/** Commits what was accepted on the branch of the bead. */
export function useApply(bead: string, commit: string | undefined) {
  return useChange<{ undecided?: "keep" | "leave_out" | undefined }, ReviewApplied>({
    what: () => `Apply what was accepted of ${bead}`,
    send: ({ undecided }) =>
      post(reviewPath(bead, "/apply"), {
        commit,
        ...(undecided && { undecided }),
      }),
    settle: () => all(bead),
  });
}

/** Takes back what was applied, with a commit that has the files from before. */
export function useUnapply(bead: string) {
  return useChange<{ commit: string }, ReviewApplied>({
    what: () => `Undo what was applied of ${bead}`,
    send: ({ commit }) => remove(reviewPath(bead, "/apply", { commit })),
    done: (_, { commit }) =>
      commit ? `Undone: ${bead} is at ${shortId(commit)}` : `There was nothing to undo on ${bead}`,
    settle: () => all(bead),
  });
}

/** What came of a wish for another round. */
export interface Requested {
  message: string;
  round: number;
  agent?: string | null;
}

/** Sends all comments and rejected hunks as one message. */
export function useRequestChanges(bead: string) {
  return useChange<{ text: string; noAgent: boolean }, Requested>({
    what: () => `Request changes of ${bead}`,
    send: ({ text, noAgent }) =>
      post(reviewPath(bead, "/request-changes"), {
        noAgent,
        ...(text.trim() !== "" && { text }),
      }),
    done: (_, { round, agent }) =>
      agent
        ? `Round ${round}: ${agent} goes on with ${bead}`
        : `Round ${round} of ${bead} waits for an agent`,
    settle: () => all(bead),
  });
}

/** Says that the work may land, and puts it into the merge queue if wanted. */
export function useApprove(bead: string, commit: string | undefined) {
  return useChange<{ isApproved: boolean; land: boolean; note?: string }, Landing | undefined>({
    what: ({ land }) => (land ? `Send ${bead} to the merge queue` : `Approve ${bead}`),
    send: async ({ isApproved, land, note }) => {
      if (!isApproved) {
        const words = note ? { note } : {};
        await post(reviewPath(bead, "/approve"), { noLand: true, commit, ...words });
      }
      if (!land) return undefined;
      // Landing may take minutes; the queue shows how it goes.
      return post(`/api/v1/beads/${encodeURIComponent(bead)}/land?waitSeconds=0`);
    },
    done: ({ land }) => (land ? `${bead} is in the merge queue` : `${bead} is approved`),
    settle: () => [...all(bead), ["landings"]],
  });
}
