import type { Bead } from "../../api/types";
import type { IconName } from "../../ui/Icon";
import type { Tone } from "../../ui/Status";

export const STATUSES = ["open", "in-progress", "review", "done"] as const;
export type BeadStatus = (typeof STATUSES)[number];

export const STATUS_LOOKS: Record<BeadStatus, { title: string; tone: Tone; icon: IconName }> = {
  open: { title: "Open", tone: "plain", icon: "circle" },
  "in-progress": { title: "In progress", tone: "info", icon: "play" },
  review: { title: "Review", tone: "warn", icon: "review" },
  done: { title: "Done", tone: "ok", icon: "check" },
};

export const PRIORITIES = ["critical", "high", "medium", "low"] as const;
export type Priority = (typeof PRIORITIES)[number];

export const PRIORITY_LOOKS: Record<Priority, { title: string; bars: number; tone: Tone }> = {
  critical: { title: "Critical", bars: 4, tone: "bad" },
  high: { title: "High", bars: 3, tone: "warn" },
  medium: { title: "Medium", bars: 2, tone: "plain" },
  low: { title: "Low", bars: 1, tone: "plain" },
};

export const TYPE_ICONS: Record<string, IconName> = {
  task: "check",
  bug: "alert",
  feature: "plus",
  refactor: "refresh",
  chore: "settings",
  research: "search",
  decision: "branch",
  epic: "grid",
};
export const TYPES = Object.keys(TYPE_ICONS);

/** A status that this page does not know yet is shown as begun. */
export function statusOf(bead: Pick<Bead, "status">): BeadStatus {
  return STATUSES.find((status) => status === bead.status) ?? "in-progress";
}

export function priorityOf(bead: Pick<Bead, "priority">): Priority {
  return PRIORITIES.find((priority) => priority === bead.priority) ?? "medium";
}

/** How a bead can be closed. */
export const RESOLUTIONS = [
  ["done", "Done"],
  ["wont-do", "Won’t do"],
  ["duplicate", "Duplicate"],
] as const;

/** How a bead was closed: `done`, `wont-do` or `duplicate`; nothing if that was not said. */
export function resolutionOf(bead: Pick<Bead, "resolution">): string | undefined {
  return fieldOf(bead.resolution, "kind");
}

/** A text inside of something whose shape is not promised. */
export function fieldOf(thing: unknown, field: string): string | undefined {
  if (typeof thing !== "object" || thing === null) return undefined;
  const value = (thing as Record<string, unknown>)[field];
  return typeof value === "string" ? value : undefined;
}

/** What the gates said of the work that landed; nothing if it did not, or none was asked. */
export function gatesOf({ landed }: Pick<Bead, "landed">): readonly { passed: boolean }[] {
  const gates = landed?.gates;
  if (!Array.isArray(gates)) return [];
  return gates.map((gate) => ({ passed: (gate as { passed?: unknown } | null)?.passed === true }));
}

/** How large what landed was, if that was counted. */
export function landedSizeOf({
  landed,
}: Pick<Bead, "landed">): { added: number; removed: number } | undefined {
  const change = landed?.change;
  if (typeof change !== "object" || change === null) return undefined;
  const { added, removed } = change as { added?: unknown; removed?: unknown };
  return typeof added === "number" && typeof removed === "number" ? { added, removed } : undefined;
}

/** Closed without being done: nobody needs to see it every day. */
export function isDropped(bead: Pick<Bead, "status" | "resolution">): boolean {
  const kind = resolutionOf(bead);
  return statusOf(bead) === "done" && kind !== undefined && kind !== "done";
}

/** What a letter of an id takes, and what is around it, in pixels. */
const ID_LETTER = 7.3;
const ID_AROUND = 20;
/** Ids of Godel fit into the least; those of others may have more if there is room, but not the whole table. */
const ID_LEAST = 104;
const ID_FAIR = 156;
const ID_MOST = 300;

/** The column that shows ids whole if there is room for them; what cannot be seen is their beginning. */
export function idWidth(longest: number): string {
  const needed = Math.ceil(longest * ID_LETTER) + ID_AROUND;
  const wanted = Math.min(ID_MOST, Math.max(ID_LEAST, needed));
  return `minmax(${Math.min(wanted, ID_FAIR)}px, ${wanted}px)`;
}

const URGENCY: ReadonlyMap<string, number> = new Map(PRIORITIES.map((name, at) => [name, at]));
const MEDIUM = PRIORITIES.indexOf("medium");

/** The urgent first, then the old. Thousands are sorted by it, so it compares as cheaply as it can. */
export function byUrgency(a: Bead, b: Bead): number {
  const urgency = (URGENCY.get(a.priority) ?? MEDIUM) - (URGENCY.get(b.priority) ?? MEDIUM);
  return urgency || byCode(a.createdAt, b.createdAt) || byCode(a.id, b.id);
}

/**
 * Sorts beads of which most are as they were: those keep their order, and only the others are put between them.
 * `byId` has all of them.
 */
export function resorted(
  before: readonly Bead[],
  all: readonly Bead[],
  byId: ReadonlyMap<string, Bead>,
): readonly Bead[] {
  // Two projects may have the same bead; then there are fewer ids than beads.
  if (byId.size !== all.length) return all.toSorted(byUrgency);
  const same = before.filter((bead) => byId.get(bead.id) === bead);
  if (same.length === all.length) return same;
  const known = new Set(same);
  const others = all.filter((bead) => !known.has(bead)).sort(byUrgency);
  return merged(same, others);
}

/** Two lists that are in order as one that is. */
function merged(one: readonly Bead[], other: readonly Bead[]): Bead[] {
  const both: Bead[] = [];
  let at = 0;
  for (const bead of other) {
    for (let next = one[at]; next && byUrgency(next, bead) <= 0; next = one[at]) {
      both.push(next);
      at += 1;
    }
    both.push(bead);
  }
  for (; at < one.length; at += 1) both.push(one[at] as Bead);
  return both;
}

/** Times and ids have no language; comparing them as words of one is slow. */
export function byCode(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
