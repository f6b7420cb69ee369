import type { Review, ReviewDiff } from "../../api/types";
import { objectIn } from "../../ui/typed";
import { partKeys } from "./rows";

/**
 * What of a change is new since the last round. The server knows how often changes were asked for,
 * but not what the change was then; so the browser remembers the keys of what it saw, commit by
 * commit. A key stays the same when a hunk only moves.
 */
const STORED = "godel.review.rounds";
/** So many reviews are remembered, the last that were looked at; and of each so many commits. */
const REVIEWS_MOST = 30;
const LOOKS_MOST = 4;
/** A larger change is not remembered: nobody reads it twice, and a browser keeps little. */
const PARTS_MOST = 1_000;
/** So much of a key tells it from all others of a change. */
const KEY_CHARS = 12;

/** The parts of a change at a commit. */
interface Look {
  head: string;
  keys: readonly string[];
}

/** What is remembered of a review, the newest look last. */
export interface Seen {
  looks: readonly Look[];
  /** The last round that this browser began, and the commit that the change was at. */
  asked?: { round: number; head: string };
}

/** What a change is compared with. */
export interface Earlier {
  /** In words, behind "new since": `round 2`. */
  since: string;
  keys: ReadonlySet<string>;
}

const short = (key: string) => key.slice(0, KEY_CHARS);

/** Remembers what a change is now; once for each commit. */
export function withLook(seen: Seen | undefined, diff: ReviewDiff): Seen | undefined {
  const keys = partKeys(diff.files).map(short);
  const isKnown = seen?.looks.some(({ head }) => head === diff.head);
  // Of a change that is read in part nobody can tell what was there.
  if (isKnown || diff.next != null || keys.length > PARTS_MOST) return seen;
  const looks = [...(seen?.looks ?? []), { head: diff.head, keys }];
  return { ...seen, looks: kept(looks, seen?.asked?.head) };
}

/** The newest looks, and the one of the last round, however old it is. */
function kept(looks: readonly Look[], asked: string | undefined): Look[] {
  const newest = looks.slice(-LOOKS_MOST);
  const last = looks.find(({ head }) => head === asked);
  return last && !newest.includes(last) ? [last, ...newest.slice(1)] : newest;
}

/** What the change was when changes were asked for, or else when it was looked at before. */
export function earlierOf(
  seen: Seen | undefined,
  { rounds, comments }: Pick<Review, "rounds" | "comments">,
  head: string,
): Earlier | undefined {
  const before = (seen?.looks ?? []).filter((look) => look.head !== head);
  const own = seen?.asked?.round === rounds ? seen.asked.head : undefined;
  // Who asked on another browser said something, most of the time.
  const asked = own ?? comments.findLast(({ sent }) => sent === rounds)?.commit;
  const last = rounds > 0 ? before.find((look) => look.head === asked) : undefined;
  if (last) return { since: `round ${rounds}`, keys: new Set(last.keys) };
  const newest = before.at(-1);
  return newest && { since: "you looked last", keys: new Set(newest.keys) };
}

/** Whether a part was there already. */
export function wasThere({ keys }: Earlier, key: string): boolean {
  return keys.has(short(key));
}

/** What this browser remembers of a review. */
export function readSeen(bead: string): Seen | undefined {
  return readAll()[bead];
}

/** Remembers what the reader looks at. */
export function keepLook(bead: string, diff: ReviewDiff): void {
  change(bead, (seen) => withLook(seen, diff));
}

/** Remembers what the change was at when a round began. */
export function keepAsked(bead: string, asked: { round: number; head: string }): void {
  change(bead, (seen) => ({ looks: [], ...seen, asked }));
}

function change(bead: string, next: (seen: Seen | undefined) => Seen | undefined): void {
  const { [bead]: seen, ...others } = readAll();
  const after = next(seen);
  if (after === undefined || after === seen) return;
  // The last that was changed comes last, so the first are those to forget.
  const all = [...Object.entries(others), [bead, after] as const].slice(-REVIEWS_MOST);
  try {
    localStorage.setItem(STORED, JSON.stringify(Object.fromEntries(all)));
  } catch {
    // A browser that keeps nothing tells of no earlier look.
  }
}

function readAll(): Record<string, Seen> {
  try {
    return (objectIn(localStorage.getItem(STORED) ?? "") ?? {}) as Record<string, Seen>;
  } catch {
    return {};
  }
}
