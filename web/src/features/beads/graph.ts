import type { Bead } from "../../api/types";
import { shortTime } from "../../ui/format";
import { isDropped } from "./looks";

/** What keeps a bead from being begun. */
export type Reason =
  | { why: "waits"; on: Bead; link: string }
  | { why: "part"; of: Bead }
  | { why: "deferred"; until: string };

/** Beads and what depends on what; the rules are those of `crates/beads/src/index/blocked.rs`. */
export class BeadGraph {
  readonly byId: ReadonlyMap<string, Bead>;
  /** How many letters the longest id has. */
  readonly longestId: number;
  readonly #parts = new Map<string, Bead[]>();
  readonly #waiters = new Map<string, Bead[]>();
  readonly #known = new Map<string, readonly Reason[]>();

  constructor(beads: readonly Bead[]) {
    const byId = new Map<string, Bead>();
    this.byId = byId;
    let longest = 0;
    // It is made anew for every change, so it is one walk and makes nothing that is not kept.
    for (const bead of beads) {
      byId.set(bead.id, bead);
      longest = Math.max(longest, bead.id.length);
      if (bead.parentBead) add(this.#parts, bead.parentBead, bead);
      for (const { type, target } of bead.links) {
        if (WAITING.has(type)) add(this.#waiters, target, bead);
      }
    }
    this.longestId = longest;
  }

  /** The parts of a bead. */
  partsOf(id: string): readonly Bead[] {
    return this.#parts.get(id) ?? [];
  }

  /** Those that wait for a bead. */
  waitersOf(id: string): readonly Bead[] {
    return this.#waiters.get(id) ?? [];
  }

  /** Those that a bead waits for, closed or not. */
  needsOf(bead: Bead): Bead[] {
    const targets = bead.links.filter(({ type }) => WAITING.has(type)).map(({ target }) => target);
    return [...new Set(targets)].flatMap((id) => this.byId.get(id) ?? []);
  }

  /** What holds a bead up; a bead that is not here holds up nothing. */
  holdsOf(bead: Bead): readonly Reason[] {
    const known = this.#known.get(bead.id);
    if (known) return known;
    // A circle ends here: while it is worked out, a bead counts as free.
    this.#known.set(bead.id, []);
    const found: Reason[] = [];
    for (const { type, target } of bead.links) {
      const other = this.byId.get(target);
      if (other && this.#isHeldBy(type, other)) {
        found.push(
          type === PART_OF ? { why: "part", of: other } : { why: "waits", on: other, link: type },
        );
      }
    }
    // Most are held up by nothing, and what shows them need not be drawn again for that.
    const holds = found.length === 0 ? NOTHING : found;
    this.#known.set(bead.id, holds);
    return holds;
  }

  /** Whether a link holds up a bead that is not done. */
  isBlocked(bead: Bead): boolean {
    return bead.status !== "done" && this.holdsOf(bead).length > 0;
  }

  /** Everything that keeps a bead from being begun, the clock as well. */
  reasonsOf(bead: Bead, now: number): readonly Reason[] {
    const isLater = bead.defer && Date.parse(bead.defer) > now;
    const holds = this.holdsOf(bead);
    return isLater && bead.defer ? [...holds, { why: "deferred", until: bead.defer }] : holds;
  }

  /** The longest chain of open beads among these, by estimate, then by count. */
  longestChain(beads: readonly Bead[]): Bead[] {
    const among = new Map(beads.filter(({ status }) => status !== "done").map((b) => [b.id, b]));
    const ends = new Map<string, Chain>();
    let best: Chain | undefined;
    for (const bead of among.values()) best = longer(best, this.#chainTo(bead, among, ends));
    const chain: Bead[] = [];
    for (let end = best; end; end = end.before) chain.push(end.bead);
    return chain.reverse();
  }

  /**
   * The longest chain that ends with a bead; `ends` keeps those that were found, so that each bead is looked at
   * once. A list takes the place of calls inside of calls: a chain may be longer than those can be deep.
   */
  #chainTo(last: Bead, among: ReadonlyMap<string, Bead>, ends: Map<string, Chain>) {
    const isOpen = ({ id }: Bead) => among.has(id);
    const begin = (bead: Bead): Step => ({ bead, needs: this.needsOf(bead).filter(isOpen), at: 0 });
    const path = ends.has(last.id) ? [] : [begin(last)];
    const onPath = new Set([last.id]);
    for (let step = path.at(-1); step; step = path.at(-1)) {
      const need = step.needs[step.at];
      if (!need) {
        ends.set(step.bead.id, withLast(step.bead, step.before));
        onPath.delete(step.bead.id);
        path.pop();
        continue;
      }
      const known = ends.get(need.id);
      // What is still on the path waits for itself: a circle ends there.
      if (!known && !onPath.has(need.id)) {
        path.push(begin(need));
        onPath.add(need.id);
        continue;
      }
      step.before = longer(step.before, known);
      step.at += 1;
    }
    return ends.get(last.id);
  }

  #isHeldBy(type: string, other: Bead): boolean {
    const isOver = other.status === "done";
    if (type === PART_OF) return !isOver && this.holdsOf(other).length > 0;
    if (type === "conditional-blocks") return !isOver || !isDropped(other);
    if (type === "waits-for") {
      return !isOver || this.partsOf(other.id).some(({ status }) => status !== "done");
    }
    return type === "blocks" && !isOver;
  }
}

const NOTHING: readonly Reason[] = [];
const PART_OF = "parent-child";
/** Links of these types make a bead wait for another. */
const WAITING = new Set(["blocks", "conditional-blocks", "waits-for"]);

/** How long a chain may take, in minutes, as far as that was estimated. */
export function minutesOf(chain: readonly Bead[]): number {
  return chain.reduce((sum, { estimate }) => sum + (estimate ?? 0), 0);
}

/** A reason as a sentence. */
export function sayReason(reason: Reason): string {
  if (reason.why === "deferred") return `It is put off until ${shortTime(reason.until)}.`;
  if (reason.why === "part") return `${reason.of.title}, which it is a part of, is held up.`;
  if (reason.link === "conditional-blocks") return `It is only wanted if ${reason.on.title} fails.`;
  return `It waits on ${reason.on.title}.`;
}

/** Why a bead can be begun now, or why not, in a line. */
export function explain(graph: BeadGraph, bead: Bead, now: number): string {
  if (bead.status === "done") return "It is done.";
  const reasons = graph.reasonsOf(bead, now);
  if (reasons.length > 0) return `Blocked: ${reasons.map(sayReason).join(" ")}`;
  if (bead.status === "review") return "In review: a person has to judge the work.";
  if (bead.status === "in-progress") return `Begun${bead.agent ? ` by ${bead.agent}` : ""}.`;
  const needs = graph.needsOf(bead).length;
  if (bead.agent) return `Ready, and promised to ${bead.agent}.`;
  return needs === 0
    ? "Ready: it waits on nothing, and nobody holds it."
    : `Ready: all ${needs} that it waited on are closed.`;
}

/** A chain as its last bead and the chain before it: all chains together take no more room than their beads. */
interface Chain {
  bead: Bead;
  before: Chain | undefined;
  minutes: number;
  count: number;
}

/** A bead whose chain is being looked for: what it needs, and how far that has been looked at. */
interface Step {
  bead: Bead;
  needs: readonly Bead[];
  at: number;
  /** The longest chain of what it needs, as far as it is known. */
  before?: Chain | undefined;
}

function withLast(bead: Bead, before: Chain | undefined): Chain {
  const minutes = (before?.minutes ?? 0) + (bead.estimate ?? 0);
  return { bead, before, minutes, count: (before?.count ?? 0) + 1 };
}

function longer(best: Chain | undefined, other: Chain | undefined): Chain | undefined {
  if (!best || !other) return best ?? other;
  const more = other.minutes - best.minutes || other.count - best.count;
  return more > 0 ? other : best;
}

function add(map: Map<string, Bead[]>, key: string, bead: Bead): void {
  const list = map.get(key);
  if (list) list.push(bead);
  else map.set(key, [bead]);
}
