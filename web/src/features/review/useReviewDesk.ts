import { useMemo, useState } from "react";
import type { Review, ReviewDiff, ReviewFile, ReviewHunk, ReviewPart } from "../../api/types";
import { useSession } from "../../roles/session";
import type { Draft } from "../../ui/useDraft";
import { type NewComment, useComment, useReviewChanges, type Verdict } from "./changes";
import { decidedByKey } from "./decided";
import { type Chosen, type Desk, latestByKey, partName } from "./deskContext";
import { partKeys, type Spot } from "./rows";
import { useExpand } from "./useExpand";
import { useViewed } from "./viewed";

/**
 * Everything that a person is doing in a diff: where the cursor is, what is chosen and written.
 * The cursor goes by what is old to somebody who wants to see only what is new.
 */
export function useReviewDesk(review: Review, diff: ReviewDiff, isOld: (key: string) => boolean) {
  const { bead } = review;
  const commit = diff.head;
  const { actor } = useSession();
  const [cursor, setCursor] = useState<string>();
  const [chosen, setChosen] = useState<Chosen>();
  const [editing, setEditing] = useState<string>();
  const [composing, compose] = useState<Spot>();
  const { decide, takeBack, edit } = useReviewChanges(bead, commit, actor);
  const comment = useComment(bead, commit, actor);
  const viewed = useViewed(bead);
  const { expanded, expand } = useExpand(bead, diff);
  const { keys, here } = useHere(diff, { isFolded: viewed.isFolded, isOld }, cursor);
  const send = (verdict: Verdict, parts: ReviewPart[], name: string) => {
    setChosen(undefined);
    decide.mutate({ verdict, parts, name });
  };
  const linesOf = (hunk: ReviewHunk) => (chosen?.key === hunk.key ? chosen : undefined);
  const desk: Desk = {
    bead,
    decideHunk: (verdict, file, hunk) => {
      const lines = linesOf(hunk);
      setCursor(hunk.key);
      const range = lines && { lines: { from: lines.from, to: lines.to } };
      send(verdict, [{ key: hunk.key, ...range }], partName(file, hunk, lines));
    },
    decideFile: (verdict, file) => send(verdict, [{ path: file.path }], file.path),
    decidePart: (verdict, file) => send(verdict, [{ key: file.key ?? null }], file.path),
    takeBack: (key) => takeBack.mutate({ key }),
    saveEdit: (file: ReviewFile, hunk: ReviewHunk, draft: Draft) => {
      setEditing(undefined);
      return edit.mutateAsync({ key: hunk.key, draft, name: partName(file, hunk) });
    },
    say: (said: NewComment, draft: Draft) => {
      compose(undefined);
      return comment.mutateAsync({ ...said, draft });
    },
    setEditing: (key) => {
      if (key !== undefined) setCursor(key);
      setEditing(key);
    },
    compose,
    point: setCursor,
    expand: (file, at, way) => void expand(file, at, way),
    fold: viewed.fold,
    setViewed: viewed.setViewed,
  };
  return {
    desk: useSteady(desk),
    keys,
    here,
    cursor,
    setCursor,
    chosen,
    setChosen,
    editing,
    composing,
    ...useDecided(review),
    viewed,
    expanded,
    decideAll: (verdict: Verdict) => send(verdict, [], "everything"),
    undoLast: () => takeBack.mutate({}),
  };
}

export type ReviewDesk = ReturnType<typeof useReviewDesk>;

/** What was decided about what is still there, by its key: the last word, and line by line. */
function useDecided({ decisions }: Review) {
  return useMemo(() => {
    const bound = decisions.filter((one) => one.bound === "bound");
    return { decisions: latestByKey(bound), decided: decidedByKey(bound) };
  }, [decisions]);
}

/** What the cursor goes by. */
interface LeftOut {
  isFolded: (file: ReviewFile) => boolean;
  isOld: (key: string) => boolean;
}

/** What can be decided in files that are not folded, and where the cursor is in it. */
function useHere({ files }: ReviewDiff, { isFolded, isOld }: LeftOut, cursor: string | undefined) {
  const keys = useMemo(
    () => partKeys(files.filter((file) => !isFolded(file))).filter((key) => !isOld(key)),
    [files, isFolded, isOld],
  );
  const here = useMemo(() => nearest(partKeys(files), keys, cursor), [files, keys, cursor]);
  return { keys, here };
}

/** Where the cursor is: if its file was folded, at what follows. */
export function nearest(
  all: readonly string[],
  open: readonly string[],
  cursor: string | undefined,
): string | undefined {
  if (cursor === undefined) return open[0];
  if (open.includes(cursor)) return cursor;
  const at = all.indexOf(cursor);
  return all.slice(at + 1).find((key) => open.includes(key)) ?? open.at(at < 0 ? 0 : -1);
}

/** The same object for as long as it lives, whose functions do what the newest ones do. */
function useSteady(desk: Desk): Desk {
  const [newest] = useState(() => ({ desk }));
  newest.desk = desk;
  return useMemo(() => {
    const names = Object.keys(newest.desk) as (keyof Desk)[];
    const steady = names.map((name) => {
      const value = newest.desk[name];
      if (typeof value !== "function") return [name, value];
      return [
        name,
        (...words: unknown[]) => (newest.desk[name] as (...all: unknown[]) => unknown)(...words),
      ];
    });
    return Object.fromEntries(steady) as Desk;
  }, [newest]);
}
