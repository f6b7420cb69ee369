import { type Layered, type Linked, layered } from "./layers";
import { ordered } from "./order";

export interface Point {
  x: number;
  y: number;
}

/** Where a step is: its upper left corner. */
export interface Placed extends Point {
  id: string;
  layer: number;
}

/** An edge and the points it passes, from the right of one card to the left of another. */
export interface Edge {
  from: string;
  to: string;
  points: Point[];
}

/** A drawing of steps from left to right. */
export interface Layout {
  /** In the order in which the steps were given. */
  nodes: Placed[];
  edges: Edge[];
  width: number;
  height: number;
}

export const CARD = { width: 208, height: 66 } as const;
const GAP = { across: 56, down: 18, edge: 12 } as const;
const MARGIN = 20;
/** How often cards are drawn towards their neighbours. */
const PULLS = 6;

/**
 * Draws steps in layers by the longest way to them. The same steps give the same drawing; how they
 * stand has no part in it.
 */
export function layoutOf(steps: readonly Linked[]): Layout {
  const graph = layered(steps);
  const layers = ordered(graph);
  const middles = middlesOf(graph, layers);
  const top = Math.min(...graph.vertices.map((_, one) => (middles[one] ?? 0) - halfOf(graph, one)));
  const y = (one: number) => Math.round((middles[one] ?? 0) - top + MARGIN);
  const left = (layer: number) => MARGIN + layer * (CARD.width + GAP.across);
  const nodes: Placed[] = graph.vertices.flatMap(({ id, layer }, one) =>
    id === undefined ? [] : [{ id, layer, x: left(layer), y: y(one) - CARD.height / 2 }],
  );
  const edges = graph.ways.map(({ from, to, through }) => {
    const points = through.flatMap((one, at): Point[] => {
      const x = left(graph.vertices[one]?.layer ?? 0);
      const isLast = at === through.length - 1;
      return [
        ...(at > 0 ? [{ x, y: y(one) }] : []),
        ...(isLast ? [] : [{ x: x + CARD.width, y: y(one) }]),
      ];
    });
    return { from, to, points };
  });
  const bottom = Math.max(0, ...nodes.map((node) => node.y + CARD.height));
  const right = left(Math.max(0, layers.length - 1)) + CARD.width;
  return { nodes, edges, width: right + MARGIN, height: bottom + MARGIN };
}

function halfOf({ vertices }: Layered, one: number): number {
  return vertices[one]?.id === undefined ? GAP.edge / 2 : CARD.height / 2;
}

/** The middle of each vertex: near its neighbours, in the order of its layer, none on another. */
function middlesOf(graph: Layered, layers: readonly number[][]): number[] {
  const middles = new Array<number>(graph.vertices.length).fill(0);
  for (const layer of layers) settle(graph, layer, middles, () => 0);
  for (let pull = 0; pull < PULLS; pull += 1) {
    const side = pull % 2 === 0 ? "before" : "after";
    const turns = side === "before" ? layers : layers.toReversed();
    for (const layer of turns) {
      settle(graph, layer, middles, (one) => {
        const beside = graph.vertices[one]?.[side] ?? [];
        if (beside.length === 0) return middles[one] ?? 0;
        return beside.reduce((sum, other) => sum + (middles[other] ?? 0), 0) / beside.length;
      });
    }
  }
  return middles;
}

/** Puts a layer as near to where it is wanted as its order and the gaps allow. */
function settle(
  graph: Layered,
  layer: readonly number[],
  middles: number[],
  wanted: (one: number) => number,
): void {
  const offsets: number[] = [];
  let offset = 0;
  for (const [at, one] of layer.entries()) {
    const last = layer[at - 1];
    if (last !== undefined) offset += halfOf(graph, last) + GAP.down + halfOf(graph, one);
    offsets.push(offset);
  }
  // Neighbours that want to overlap are moved together, to the mean of what they want.
  const groups: { sum: number; size: number }[] = [];
  for (const [at, one] of layer.entries()) {
    groups.push({ sum: wanted(one) - (offsets[at] ?? 0), size: 1 });
    for (let last = groups.length - 1; last > 0; last -= 1) {
      const [a, b] = [groups[last - 1], groups[last]];
      if (!a || !b || a.sum / a.size <= b.sum / b.size) break;
      groups.splice(last - 1, 2, { sum: a.sum + b.sum, size: a.size + b.size });
    }
  }
  let at = 0;
  for (const { sum, size } of groups) {
    for (let many = 0; many < size; many += 1, at += 1) {
      middles[layer[at] as number] = sum / size + (offsets[at] ?? 0);
    }
  }
}

/** The edge as an SVG path of soft curves. */
export function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  let last = first;
  const parts = [`M${first.x} ${first.y}`];
  for (const point of rest) {
    const middle = (last.x + point.x) / 2;
    parts.push(
      point.y === last.y
        ? `H${point.x}`
        : `C${middle} ${last.y} ${middle} ${point.y} ${point.x} ${point.y}`,
    );
    last = point;
  }
  return parts.join("");
}

/** The step that an arrow key goes to from a step: along an edge, or up and down in its layer. */
export function neighbour(layout: Layout, id: string, key: string): string | undefined {
  const here = layout.nodes.find((node) => node.id === id);
  if (!here) return undefined;
  const distance = (node: Placed) => Math.abs(node.y - here.y);
  const nearest = (nodes: Placed[]) => nodes.toSorted((a, b) => distance(a) - distance(b))[0]?.id;
  const among = (ids: readonly string[]) => layout.nodes.filter((node) => ids.includes(node.id));
  if (key === "ArrowLeft") {
    return nearest(among(layout.edges.filter(({ to }) => to === id).map(({ from }) => from)));
  }
  if (key === "ArrowRight") {
    return nearest(among(layout.edges.filter(({ from }) => from === id).map(({ to }) => to)));
  }
  const sign = { ArrowUp: -1, ArrowDown: 1 }[key];
  if (sign === undefined) return undefined;
  const inLayer = layout.nodes.filter(({ layer }) => layer === here.layer);
  return nearest(inLayer.filter((node) => (node.y - here.y) * sign > 0));
}
