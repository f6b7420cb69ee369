import type { ReviewDecision, ReviewHunk } from "../../api/types";
import type { Verdict } from "./changes";
import { lastAt } from "./lines";

/** What was decided about one part of a change, line by line. */
export interface Decided {
  /** About all of it. */
  all: Verdict | undefined;
  /** About single lines since, by their place. */
  lines: ReadonlyMap<number, Verdict>;
  /** A person wrote something else, so no line of it counts. */
  isEdited: boolean;
}

/** How many lines of a hunk stand how. */
export interface LineCount {
  accepted: number;
  rejected: number;
  total: number;
}

const NOTHING: Decided = { all: undefined, lines: new Map(), isEdited: false };

/** Puts decisions together, part by part, as the server does: a later one counts more. */
export function decidedByKey(decisions: readonly ReviewDecision[]): Map<string, Decided> {
  const decided = new Map<string, Decided>();
  for (const decision of decisions) {
    decided.set(decision.key, taken(decided.get(decision.key) ?? NOTHING, decision));
  }
  return decided;
}

function taken(before: Decided, { verdict, lines }: ReviewDecision): Decided {
  if (verdict === "edited") return { ...before, isEdited: true };
  const word: Verdict = verdict === "accepted" ? "accepted" : "rejected";
  if (!lines) return { all: word, lines: new Map(), isEdited: false };
  const ofLines = new Map(before.lines);
  for (let at = lines.from; at <= lines.to; at += 1) ofLines.set(at, word);
  return { all: before.all, lines: ofLines, isEdited: false };
}

/** What was decided about one line; what stands around a hunk cannot be decided. */
export function verdictOf(
  decided: Decided | undefined,
  at: number | null | undefined,
): Verdict | undefined {
  if (!decided || decided.isEdited || at == null) return undefined;
  return decided.lines.get(at) ?? decided.all;
}

/** Counts the lines of a hunk that were decided; those between two changes count, too. */
export function countLines(hunk: ReviewHunk, decided: Decided | undefined): LineCount {
  const count = { accepted: 0, rejected: 0, total: lastAt(hunk) };
  for (let at = 1; at <= count.total; at += 1) {
    const verdict = verdictOf(decided, at);
    if (verdict) count[verdict] += 1;
  }
  return count;
}

/** How a part stands, as the server says it; a file as a whole has no lines. */
export function standingOf(decided: Decided | undefined, hunk?: ReviewHunk): string {
  if (decided?.isEdited) return "edited";
  if (!hunk) return decided?.all ?? "undecided";
  const { accepted, rejected, total } = countLines(hunk, decided);
  if (accepted === total) return "accepted";
  if (rejected === total) return "rejected";
  return rejected > 0 ? "mixed" : "undecided";
}
