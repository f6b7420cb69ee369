import type { Bead } from "../../api/types";
import { PRIORITIES, priorityOf } from "../beads/looks";

/** In the order of their bytes. No place ends in the lowest, so there is room before each. */
const DIGITS = "-0123456789abcdefghijklmnopqrstuvwxyz";
const MIDDLE = DIGITS[DIGITS.length >> 1] ?? "i";

/**
 * The place of a bead in a column. One that nobody has moved stands by urgency, then age, and that
 * is written like a rank too: so a card can be put between any two with a single change.
 */
export function placeOf(bead: Pick<Bead, "rank" | "priority" | "createdAt">): string {
  if (bead.rank) return bead.rank;
  const known = places.get(bead);
  if (known !== undefined) return known;
  const place = placeByUrgency(bead);
  places.set(bead, place);
  return place;
}

/** Thousands are sorted by their places, each compared many times. */
const places = new WeakMap<object, string>();

function placeByUrgency(bead: Pick<Bead, "priority" | "createdAt">): string {
  const at = Math.max(0, Date.parse(bead.createdAt) || 0);
  return `${PRIORITIES.indexOf(priorityOf(bead)) + 1}${at.toString(36).padStart(9, "0")}`;
}

/** The order of a column, the same for everybody. */
export function byPlace(a: Bead, b: Bead): number {
  return compare(placeOf(a), placeOf(b)) || compare(a.id, b.id);
}

/** A rank after one and before another; ranks can be made between any two for ever. */
export function between(before: string, after: string | undefined): string {
  if (after !== undefined && compare(before, after) >= 0) return `${before}${MIDDLE}`;
  let prefix = "";
  for (let at = 0; ; at += 1) {
    const low = digitAt(before, at, 0);
    const isOpen = after === undefined || !after.startsWith(prefix);
    const high = isOpen ? DIGITS.length : digitAt(after, at, DIGITS.length);
    if (high - low > 1) return prefix + (DIGITS[(low + high) >> 1] ?? MIDDLE);
    // There is no room at this digit: go on behind the lower one.
    prefix += before[at] ?? DIGITS[0];
  }
}

/** Ranks for several cards that are put into one place, in their order. */
export function ranksBetween(count: number, before: string, after: string | undefined): string[] {
  const ranks: string[] = [];
  let last = before;
  for (let at = 0; at < count; at += 1) {
    last = between(last, after);
    ranks.push(last);
  }
  return ranks;
}

/** A rank that somebody else wrote may have any character; those count as the nearest digit. */
function digitAt(rank: string, at: number, none: number): number {
  const sign = rank[at];
  if (sign === undefined) return none;
  const index = DIGITS.indexOf(sign);
  if (index >= 0) return index;
  const nearest = [...DIGITS].findIndex((digit) => digit > sign);
  return nearest < 0 ? DIGITS.length - 1 : nearest;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
