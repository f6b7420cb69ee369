import type { Bead, Convoy } from "../../api/types";
import { type BeadStatus, byCode, isDropped, STATUSES, statusOf } from "../beads/looks";
import { byPlace, placeOf, ranksBetween } from "./rank";

export const LANES = ["convoy", "agent", "none"] as const;
export type LaneKind = (typeof LANES)[number];

/** A row of the board: the cards of a convoy, of an agent, or all. */
export interface Lane {
  id: string;
  title: string;
  convoy?: Convoy | undefined;
  agent?: string | undefined;
  cells: Readonly<Record<BeadStatus, readonly Bead[]>>;
}

/** How many cards a cell shows before it is asked for more. */
export const CELL_PAGE = 25;
/** The same where there are lanes below each other. */
export const LANE_PAGE = 8;

/** Lanes after these are folded at first: a board of hundreds of cards is slow and tells little. */
export const OPEN_LANES = 6;

/** Whether beads that are still on their way go nowhere where cards can be seen at first. */
export function isSettled(lanes: readonly Lane[], here: ReadonlyMap<string, Bead>): boolean {
  return lanes
    .slice(0, OPEN_LANES)
    .every(({ convoy }) => convoy?.beads.every((id) => here.has(id)) ?? false);
}

/** The lanes of a board, each with its cells in order. */
export function lanesOf(
  beads: readonly Bead[],
  kind: LaneKind,
  convoys: readonly Convoy[],
): Lane[] {
  if (kind === "none") return [{ id: "all", title: "All beads", cells: cellsOf(beads) }];
  if (kind === "agent") {
    const byAgent = new Map<string, Bead[]>();
    for (const bead of beads) {
      const own = byAgent.get(bead.agent ?? "");
      if (own) own.push(bead);
      else byAgent.set(bead.agent ?? "", [bead]);
    }
    const names = [...byAgent.keys()].sort((a, b) =>
      a === "" ? 1 : b === "" ? -1 : a.localeCompare(b),
    );
    return names.map((name) => ({
      id: `agent ${name}`,
      title: name === "" ? "Nobody" : name.replace(/^user:/, ""),
      agent: name === "" ? undefined : name,
      cells: cellsOf(byAgent.get(name) ?? []),
    }));
  }
  const byId = new Map(beads.map((bead) => [bead.id, bead]));
  const lanes = convoys.map<Lane>((convoy) => {
    const own = [...new Set(convoy.beads)]
      .flatMap((id) => byId.get(id) ?? [])
      .filter(({ projectId }) => projectId === convoy.projectId);
    return { id: convoy.id, title: convoy.name, convoy, cells: cellsOf(own) };
  });
  const taken = new Set(convoys.flatMap((convoy) => convoy.beads));
  const others = beads.filter(({ id }) => !taken.has(id));
  return [...lanes, { id: "no convoy", title: "In no convoy", cells: cellsOf(others) }];
}

/** A card and where the reader saw it. */
export interface Held {
  lane: string;
  status: BeadStatus;
  bead: Bead;
}

/** Lanes with their cards where the reader saw them; `now` has what each says by now. */
export function heldLanes(
  lanes: readonly Lane[],
  seen: readonly Held[],
  now: readonly Held[],
): Lane[] {
  const newest = new Map(now.map(({ bead }) => [bead.id, bead]));
  const byLane = new Map<string, Record<BeadStatus, Bead[]>>();
  for (const { lane, status, bead } of seen) {
    const cells = byLane.get(lane) ?? { open: [], "in-progress": [], review: [], done: [] };
    cells[status].push(newest.get(bead.id) ?? bead);
    byLane.set(lane, cells);
  }
  return lanes.map((lane) => ({ ...lane, cells: byLane.get(lane.id) ?? cellsOf([]) }));
}

function cellsOf(beads: readonly Bead[]): Lane["cells"] {
  const cells: Record<BeadStatus, Bead[]> = { open: [], "in-progress": [], review: [], done: [] };
  for (const bead of beads) cells[statusOf(bead)].push(bead);
  for (const status of STATUSES) {
    // What was done last is what people look for; nobody orders it by hand.
    cells[status].sort(status === "done" ? byLast : byPlace);
  }
  return cells;
}

function byLast(a: Bead, b: Bead): number {
  return byCode(b.updatedAt, a.updatedAt) || byPlace(a, b);
}

/** What the head of a column says about all its cards. */
export interface ColumnSum {
  count: number;
  costMicros: number | undefined;
  /** When the oldest card was made. */
  oldest: string | undefined;
}

export function sumOf(
  beads: readonly Bead[],
  costs: ReadonlyMap<string, number> | undefined,
): ColumnSum {
  return {
    count: beads.length,
    costMicros: costs && beads.reduce((sum, { id }) => sum + (costs.get(id) ?? 0), 0),
    oldest: beads.reduce<string | undefined>(
      (oldest, { createdAt }) => (oldest && oldest < createdAt ? oldest : createdAt),
      undefined,
    ),
  };
}

/** Those that the board shows; what was dropped only if it is asked for. */
export function onBoard(beads: readonly Bead[], withDropped: boolean): Bead[] {
  return withDropped ? [...beads] : beads.filter((bead) => !isDropped(bead));
}

/** Where cards are put: before the card at `index` of a cell from which they were taken out. */
export interface Spot {
  lane: string;
  status: BeadStatus;
  index: number;
}

/** The ranks that put cards into a spot; a single change for each. */
export function ranksAt(
  cell: readonly Bead[],
  cards: readonly Bead[],
  index: number,
): ReadonlyMap<string, string> {
  const moved = new Set(cards.map(({ id }) => id));
  const rest = cell.filter(({ id }) => !moved.has(id));
  const before = rest[index - 1];
  const after = rest[index];
  const ranks = ranksBetween(cards.length, before ? placeOf(before) : "", after && placeOf(after));
  return new Map(cards.map(({ id }, at) => [id, ranks[at] ?? ""]));
}

const MARK = /^\s*(?:[-*+•]|\d{1,4}[.)])?\s*(?:\[[ xX]?\])?\s*/;

/** One title for each line of a list, without its marks. */
export function titlesOf(text: string): string[] {
  return text
    .split(/\r\n?|\n/)
    .map((line) => line.replace(MARK, "").trim())
    .filter((line) => line !== "");
}
