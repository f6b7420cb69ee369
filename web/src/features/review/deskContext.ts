import { createContext, useContext } from "react";
import type { ReviewDecision, ReviewFile, ReviewHunk } from "../../api/types";
import type { Draft } from "../../ui/useDraft";
import type { NewComment, Verdict } from "./changes";
import type { Way } from "./expand";
import type { Spot } from "./rows";

/** Some lines of a hunk, as a person chose them. */
export interface Chosen {
  key: string;
  from: number;
  to: number;
}

/** What the parts of a diff can do; it stays the same while somebody scrolls. */
export interface Desk {
  bead: string;
  /** Decides a hunk, or the chosen lines of it. */
  decideHunk: (verdict: Verdict, file: ReviewFile, hunk: ReviewHunk) => void;
  decideFile: (verdict: Verdict, file: ReviewFile) => void;
  decidePart: (verdict: Verdict, file: ReviewFile) => void;
  takeBack: (key: string) => void;
  /** These two tell when the server has taken what was written. */
  saveEdit: (file: ReviewFile, hunk: ReviewHunk, draft: Draft) => Promise<unknown>;
  say: (comment: NewComment, draft: Draft) => Promise<unknown>;
  setEditing: (key: string | undefined) => void;
  compose: (spot: Spot | undefined) => void;
  point: (key: string) => void;
  /** Shows lines outside of the hunks: above the next one, below the one before, or all. */
  expand: (file: ReviewFile, at: number, way: Way) => void;
  fold: (file: ReviewFile, isFolded: boolean) => void;
  setViewed: (file: ReviewFile, isViewed: boolean) => void;
}

const Current = createContext<Desk | undefined>(undefined);

export const DeskProvider = Current;

/** What can be done from inside a diff. */
export function useDesk(): Desk {
  const desk = useContext(Current);
  if (!desk) throw new Error("no review is around this component");
  return desk;
}

/** The latest decision about each part, by its key. */
export function latestByKey(decisions: readonly ReviewDecision[]): Map<string, ReviewDecision> {
  return new Map(decisions.map((decision) => [decision.key, decision]));
}

/** The last decisions about what is another now; about what is gone there is nothing to decide. */
export function changedSince(decisions: readonly ReviewDecision[]): ReviewDecision[] {
  return [...latestByKey(decisions).values()].filter((decision) => decision.bound === "changed");
}

/** The command for a part: `src/main.rs:2`, or lines of it. */
export function partName(file: ReviewFile, hunk?: ReviewHunk, lines?: Chosen): string {
  const range = lines ? `:${lines.from}-${lines.to}` : "";
  return hunk ? `${file.path}:${hunk.number}${range}` : file.path;
}

/** The same on the command line. */
export function cliFor(verb: string, bead: string, part = ""): string {
  const quoted = /^[\w./:@-]*$/.test(part) ? part : `'${part.replaceAll("'", "'\\''")}'`;
  return `godel review ${verb} ${bead} ${quoted}`.trim();
}
