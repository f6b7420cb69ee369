import type { ReviewLine } from "../../api/types";
import { withoutSpace } from "./words";

/** Lines that went and came, and below them one that is the same but for white space. */
export interface Stretch {
  removed: readonly ReviewLine[];
  added: readonly ReviewLine[];
  same?: { left: ReviewLine; right: ReviewLine };
}

/** Comparing each line with each other one takes too long from here on: some 400 by 400. */
const COMPARED_MOST = 160_000;

type Kind = "removed" | "added" | "context";
const kindOf = ({ kind }: ReviewLine): Kind =>
  kind === "removed" || kind === "added" ? kind : "context";

/**
 * Lays the lines of a hunk out for somebody who does not look at white space. A block that was
 * only moved to the right is the same then, also if a line was written above it.
 */
export function stretchesOf(lines: readonly ReviewLine[]): Stretch[] {
  const stretches: Stretch[] = [];
  let at = 0;
  const run = (kind: Kind) => {
    const first = at;
    for (let line = lines[at]; line && kindOf(line) === kind; line = lines[at]) at += 1;
    return lines.slice(first, at);
  };
  while (at < lines.length) {
    const removed = run("removed");
    stretches.push(...stretchesOfRun(removed, run("added")));
    for (const line of run("context")) {
      stretches.push({ removed: [], added: [], same: { left: line, right: line } });
    }
  }
  return stretches;
}

function stretchesOfRun(removed: readonly ReviewLine[], added: readonly ReviewLine[]): Stretch[] {
  const texts = (lines: readonly ReviewLine[]) => lines.map(({ text }) => withoutSpace(text));
  const isLong = removed.length * added.length > COMPARED_MOST;
  const match = isLong ? matchByPlace : matchInOrder;
  const stretches: Stretch[] = [];
  let [old, now] = [0, 0];
  for (const [oldAt, newAt] of match(texts(removed), texts(added))) {
    const [left, right] = [removed[oldAt], added[newAt]];
    if (!left || !right) continue;
    stretches.push({
      removed: removed.slice(old, oldAt),
      added: added.slice(now, newAt),
      same: { left, right },
    });
    [old, now] = [oldAt + 1, newAt + 1];
  }
  if (old < removed.length || now < added.length) {
    stretches.push({ removed: removed.slice(old), added: added.slice(now) });
  }
  return stretches;
}

type Matches = [old: number, now: number][];

function matchByPlace(old: readonly string[], now: readonly string[]): Matches {
  return old.flatMap((text, at): Matches => (text === now[at] ? [[at, at]] : []));
}

/** The most texts that both have in the same order: their longest common subsequence. */
function matchInOrder(old: readonly string[], now: readonly string[]): Matches {
  const width = now.length + 1;
  // How many match from these two places on.
  const most = new Uint16Array((old.length + 1) * width);
  const from = (oldAt: number, newAt: number) => most[oldAt * width + newAt] ?? 0;
  for (let oldAt = old.length - 1; oldAt >= 0; oldAt -= 1) {
    for (let newAt = now.length - 1; newAt >= 0; newAt -= 1) {
      most[oldAt * width + newAt] =
        old[oldAt] === now[newAt]
          ? from(oldAt + 1, newAt + 1) + 1
          : Math.max(from(oldAt + 1, newAt), from(oldAt, newAt + 1));
    }
  }
  const matches: Matches = [];
  let [oldAt, newAt] = [0, 0];
  while (oldAt < old.length && newAt < now.length) {
    if (old[oldAt] === now[newAt]) {
      matches.push([oldAt, newAt]);
      oldAt += 1;
      newAt += 1;
    } else if (from(oldAt + 1, newAt) >= from(oldAt, newAt + 1)) oldAt += 1;
    else newAt += 1;
  }
  return matches;
}
