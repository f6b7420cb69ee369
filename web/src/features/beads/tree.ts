import type { Bead } from "../../api/types";
import type { BeadGraph } from "./graph";
import { byUrgency } from "./looks";

/** What a tree shows below a bead: its parts, or what it waits on. */
export const TREES = ["parts", "waits"] as const;
export type TreeKind = (typeof TREES)[number];

/** A line of the tree; a bead that several wait on is there several times. */
export interface TreeRow {
  bead: Bead;
  /** The beads above it and itself; unique. */
  path: string;
  depth: number;
  hasMore: boolean;
  isOpen: boolean;
}

/** Deeper than this nobody reads. */
const DEEPEST = 20;
/** A tree of dependencies may have many more lines than beads. */
const MOST_ROWS = 20_000;

/** The tree as lines, the open ones with what is below them. */
export function treeRows(
  graph: BeadGraph,
  found: readonly Bead[],
  kind: TreeKind,
  closed: ReadonlySet<string>,
): TreeRow[] {
  const ids = new Set(found.map(({ id }) => id));
  const below = (bead: Bead) => (kind === "parts" ? graph.partsOf(bead.id) : graph.needsOf(bead));
  const above = (bead: Bead) =>
    kind === "parts"
      ? bead.parentBead
        ? [bead.parentBead]
        : []
      : graph.waitersOf(bead.id).map(({ id }) => id);
  const roots = found.filter((bead) => !above(bead).some((id) => id !== bead.id && ids.has(id)));
  const rows: TreeRow[] = [];
  const add = (bead: Bead, parents: readonly string[]) => {
    if (rows.length >= MOST_ROWS) return;
    const trail = [...parents, bead.id];
    const path = trail.join("/");
    // A circle would have no end.
    const children =
      parents.length >= DEEPEST
        ? []
        : [...below(bead)].filter(({ id }) => !trail.includes(id)).toSorted(byUrgency);
    const isOpen = !closed.has(path);
    rows.push({ bead, path, depth: parents.length, hasMore: children.length > 0, isOpen });
    if (isOpen) for (const child of children) add(child, trail);
  };
  for (const bead of [...roots, ...unreached(found, roots, below)]) add(bead, []);
  return rows;
}

/** Of beads to which no root leads, since each waits on another, one of each circle: it is shown from there. */
function unreached(
  found: readonly Bead[],
  roots: readonly Bead[],
  below: (bead: Bead) => readonly Bead[],
): Bead[] {
  const seen = new Set<string>();
  const walk = (from: Bead) => {
    const ahead = [from];
    for (let bead = ahead.pop(); bead; bead = ahead.pop()) {
      if (seen.has(bead.id)) continue;
      seen.add(bead.id);
      ahead.push(...below(bead));
    }
  };
  for (const root of roots) walk(root);
  const starts: Bead[] = [];
  for (const bead of found) {
    if (seen.has(bead.id)) continue;
    starts.push(bead);
    walk(bead);
  }
  return starts;
}
