import { type BeadStatus, STATUSES } from "../beads/looks";
import type { Lane, Spot } from "./board";

/** A card on the board; one bead may be in several lanes. */
export interface Place {
  lane: string;
  id: string;
}

export type Arrow = "up" | "down" | "left" | "right";

const ARROWS: Record<string, Arrow> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
  k: "up",
  j: "down",
};

/** The direction that a key means. */
export function arrowOf(key: string): Arrow | undefined {
  return ARROWS[key];
}

interface Found {
  lane: number;
  status: BeadStatus;
  index: number;
}

/** Where a card is. */
export function find(lanes: readonly Lane[], place: Place | undefined): Found | undefined {
  const lane = lanes.findIndex(({ id }) => id === place?.lane);
  const cells = lanes[lane]?.cells;
  if (!cells) return undefined;
  for (const status of STATUSES) {
    const index = cells[status].findIndex(({ id }) => id === place?.id);
    if (index >= 0) return { lane, status, index };
  }
  return undefined;
}

/** The card that an arrow leads to from another; at the edge it stays where it is. */
export function cardTo(
  lanes: readonly Lane[],
  from: Place | undefined,
  arrow: Arrow,
): Place | undefined {
  const at = find(lanes, from);
  if (!at) return firstCard(lanes);
  if (arrow === "left" || arrow === "right") {
    const step = arrow === "left" ? -1 : 1;
    for (let to = STATUSES.indexOf(at.status) + step; ; to += step) {
      const status = STATUSES[to];
      if (status === undefined) return from;
      const cell = lanes[at.lane]?.cells[status] ?? [];
      const card = cell[Math.min(at.index, cell.length - 1)];
      if (card && from) return { lane: from.lane, id: card.id };
    }
  }
  const step = arrow === "up" ? -1 : 1;
  const beside = lanes[at.lane]?.cells[at.status][at.index + step];
  if (beside && from) return { lane: from.lane, id: beside.id };
  for (let to = at.lane + step; ; to += step) {
    const lane = lanes[to];
    if (!lane) return from;
    const cell = lane.cells[at.status];
    const card = arrow === "up" ? cell.at(-1) : cell[0];
    if (card) return { lane: lane.id, id: card.id };
  }
}

function firstCard(lanes: readonly Lane[]): Place | undefined {
  for (const lane of lanes) {
    for (const status of STATUSES) {
      const [card] = lane.cells[status];
      if (card) return { lane: lane.id, id: card.id };
    }
  }
  return undefined;
}

/** How many places there are in a cell for cards that are being moved. */
export function roomIn(lane: Lane, status: BeadStatus, moved: ReadonlySet<string>): number {
  // The order of what is done is that of time.
  return status === "done" ? 0 : lane.cells[status].filter(({ id }) => !moved.has(id)).length;
}

/** Where an arrow takes the cards that are lifted. */
export function spotTo(lane: Lane, spot: Spot, arrow: Arrow, moved: ReadonlySet<string>): Spot {
  if (arrow === "up" || arrow === "down") {
    const index = spot.index + (arrow === "up" ? -1 : 1);
    const room = roomIn(lane, spot.status, moved);
    return { ...spot, index: Math.min(room, Math.max(0, index)) };
  }
  const to = STATUSES.indexOf(spot.status) + (arrow === "left" ? -1 : 1);
  const status = STATUSES[Math.min(STATUSES.length - 1, Math.max(0, to))] ?? spot.status;
  return { ...spot, status, index: Math.min(spot.index, roomIn(lane, status, moved)) };
}
