import type { ReviewFile, ReviewHunk } from "../../api/types";
import type { Chosen } from "./deskContext";
import type { Spot } from "./rows";

/** The line that a comment is about: the last chosen one, or the first that differs. */
export function spotOf(file: ReviewFile, hunk: ReviewHunk, chosen: Chosen | undefined): Spot {
  const line =
    (chosen && hunk.lines.find((one) => one.at === chosen.to)) ??
    hunk.lines.find((one) => one.kind === "added") ??
    hunk.lines.find((one) => one.kind === "removed");
  const isOld = line?.kind === "removed";
  return {
    path: file.path,
    side: isOld ? "old" : "new",
    line: (isOld ? line?.old : line?.new) ?? hunk.newStart,
  };
}

/** The last place of a hunk that a decision can be about. */
export function lastAt(hunk: ReviewHunk): number {
  return hunk.lines.reduce((most, line) => Math.max(most, line.at ?? 0), 0);
}

/** One more line, or one less; nothing is left when the first goes. */
export function stretched(
  hunk: ReviewHunk,
  chosen: Chosen | undefined,
  by: 1 | -1,
): Chosen | undefined {
  if (!chosen || chosen.key !== hunk.key) {
    return by > 0 ? { key: hunk.key, from: 1, to: 1 } : undefined;
  }
  const to = Math.min(lastAt(hunk), chosen.to + by);
  return to < chosen.from ? undefined : { ...chosen, to };
}
