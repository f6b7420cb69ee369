import { useAction } from "../../actions/actions";
import { BACK, CREATE, LIST } from "../../actions/common";
import type { Review, ReviewDiff, ReviewFile, ReviewHunk } from "../../api/types";
import { useRefusal } from "../../roles/session";
import { REVIEW } from "./actions";
import { cliFor, partName } from "./deskContext";
import type { Way } from "./expand";
import { spotOf, stretched } from "./lines";
import type { DiffLook } from "./useDiffLook";
import type { ReviewDesk } from "./useReviewDesk";

interface Keys {
  review: Review;
  diff: ReviewDiff;
  desk: ReviewDesk;
  look: DiffLook;
}

/** The file and the hunk under the cursor; a part of a file has no hunk. */
export function findPart(
  files: readonly ReviewFile[],
  key: string | undefined,
): { file: ReviewFile; hunk: ReviewHunk | undefined } | undefined {
  for (const file of files) {
    if (file.key != null && file.key === key) return { file, hunk: undefined };
    const hunk = file.hunks.find((one) => one.key === key);
    if (hunk) return { file, hunk };
  }
  return undefined;
}

/** Why there is nothing to take back; what is on its way counts. */
export function whyNoUndo(review: Review, diff: ReviewDiff): string | undefined {
  const { accepted, rejected } = diff.tally;
  const isNothing = review.decisions.length === 0 && accepted + rejected === 0;
  return isNothing ? "Nothing was decided yet." : undefined;
}

/** Binds every key of a diff to the hunk under the cursor. */
export function useDiffKeys({ review, diff, desk }: Keys): void {
  const { keys, here, chosen, setChosen, setCursor } = desk;
  const found = findPart(diff.files, here);
  useMoves(diff.files, desk, found?.file);
  const disabled = useRefusal("review:update:own");
  const { file, hunk } = found ?? {};
  const name = file ? partName(file, hunk, chosen?.key === hunk?.key ? chosen : undefined) : "";
  const when = file !== undefined;
  const { bead } = review;
  const decide = (verdict: "accepted" | "rejected") => {
    if (!file) return;
    if (hunk) desk.desk.decideHunk(verdict, file, hunk);
    else desk.desk.decidePart(verdict, file);
    const next = keys[keys.indexOf(here ?? "") + 1];
    // Lines of a hunk are decided one after the other; the rest of it comes next.
    if (next !== undefined && !chosen) setCursor(next);
  };
  const say = (verb: string, words: string, part = name) => ({
    when,
    disabled,
    title: `${words} ${part}`,
    cli: cliFor(verb, bead, part),
  });
  const path = file?.path ?? "";
  useAction(REVIEW.accept, () => decide("accepted"), say("accept", "Accept"));
  useAction(REVIEW.reject, () => decide("rejected"), say("reject", "Reject"));
  useAction(
    REVIEW.acceptFile,
    () => file && desk.desk.decideFile("accepted", file),
    say("accept", "Accept", path),
  );
  useAction(
    REVIEW.rejectFile,
    () => file && desk.desk.decideFile("rejected", file),
    say("reject", "Reject", path),
  );
  useAction(REVIEW.edit, () => hunk && desk.desk.setEditing(hunk.key), {
    ...say("edit", "Edit"),
    when: hunk !== undefined,
  });
  useAction(CREATE, () => file && hunk && desk.desk.compose(spotOf(file, hunk, chosen)), {
    ...say("comment", "Comment on"),
    when: hunk !== undefined,
  });
  useAction(REVIEW.undo, desk.undoLast, {
    disabled: disabled ?? whyNoUndo(review, diff),
    cli: cliFor("undo", bead),
  });
  useAction(REVIEW.moreLines, () => hunk && setChosen(stretched(hunk, chosen, 1)), {
    when: hunk !== undefined,
  });
  useAction(REVIEW.fewerLines, () => hunk && setChosen(stretched(hunk, chosen, -1)), {
    when: hunk !== undefined,
  });
  useExpandKeys(desk, file, hunk);
  useAction(BACK, () => setChosen(undefined), { when: chosen !== undefined });
}

/** `o` and `O` show lines above and below the hunk, `E` all of them. */
function useExpandKeys(
  { desk }: ReviewDesk,
  file: ReviewFile | undefined,
  hunk: ReviewHunk | undefined,
): void {
  const at = file && hunk ? file.hunks.indexOf(hunk) : -1;
  const expand = (gap: number, way: Way) => file && desk.expand(file, gap, way);
  const when = at >= 0;
  useAction(REVIEW.expandUp, () => expand(at, "up"), { when });
  useAction(REVIEW.expandDown, () => expand(at + 1, "down"), { when });
  useAction(
    REVIEW.expandAll,
    () => {
      expand(at, "all");
      expand(at + 1, "all");
    },
    { when },
  );
}

function useMoves(
  files: readonly ReviewFile[],
  { keys, here, setCursor, setChosen, viewed }: ReviewDesk,
  file: ReviewFile | undefined,
): void {
  const go = (key: string | undefined) => {
    if (key === undefined) return;
    setChosen(undefined);
    setCursor(key);
  };
  const at = keys.indexOf(here ?? "");
  const open = files.filter((one) => !viewed.isFolded(one));
  const step = (by: number) => {
    const next = open[(file ? open.indexOf(file) : -1) + by];
    go(next?.key ?? next?.hunks[0]?.key);
  };
  const when = keys.length > 0;
  useAction(LIST.down, () => go(keys[at + 1]), { when, title: "Next hunk" });
  useAction(LIST.up, () => go(keys[at - 1]), { when, title: "Hunk before" });
  useAction(REVIEW.nextFile, () => step(1), { when });
  useAction(REVIEW.fileBefore, () => step(-1), { when });
  useAction(
    REVIEW.viewed,
    () => {
      if (!file) return;
      viewed.setViewed(file, !viewed.isViewed(file));
      if (!viewed.isViewed(file)) step(1);
    },
    { when: file !== undefined },
  );
}
