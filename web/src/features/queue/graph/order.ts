import type { Layered } from "./layers";

/** After so many sweeps nothing gets better in practice. */
const SWEEPS = 12;

/** The order in each layer with the fewest crossings that sweeps by barycenter find. */
export function ordered({ vertices, layers }: Layered): number[][] {
  let current = layers.map((layer) => [...layer]);
  let best = current;
  let fewest = crossings({ vertices, layers: current });
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep += 1) {
    current = swept(current, vertices, sweep % 2 === 0 ? "before" : "after");
    const many = crossings({ vertices, layers: current });
    if (many < fewest) [best, fewest] = [current, many];
  }
  return best;
}

type Vertices = Layered["vertices"];

/** One sweep: each layer by where its neighbours of the layer beside it are. */
function swept(layers: number[][], vertices: Vertices, side: "before" | "after"): number[][] {
  const places = placesOf(layers);
  const result = layers.map((layer) => [...layer]);
  const turns = layers.map((_, at) => (side === "before" ? at : layers.length - 1 - at));
  for (const at of turns) {
    const layer = result[at] ?? [];
    const centers = new Map(
      layer.map((one, place) => {
        const beside = vertices[one]?.[side] ?? [];
        const sum = beside.reduce((all, other) => all + (places.get(other) ?? 0), 0);
        // Who has no neighbour there stays where it is.
        return [one, { center: beside.length > 0 ? sum / beside.length : place, place }] as const;
      }),
    );
    layer.sort((a, b) => {
      const [left, right] = [centers.get(a), centers.get(b)];
      if (!left || !right) return 0;
      return left.center - right.center || left.place - right.place;
    });
    for (const [place, one] of layer.entries()) places.set(one, place);
  }
  return result;
}

function placesOf(layers: number[][]): Map<number, number> {
  return new Map(layers.flatMap((layer) => layer.map((one, place) => [one, place] as const)));
}

/** How often edges cross between layers that are beside each other. */
export function crossings({ vertices, layers }: Pick<Layered, "vertices" | "layers">): number {
  const places = placesOf(layers);
  let total = 0;
  for (const layer of layers) {
    const ends: number[] = [];
    for (const one of layer) {
      const after = (vertices[one]?.after ?? []).map((other) => places.get(other) ?? 0);
      ends.push(...after.sort((a, b) => a - b));
    }
    total += inversions(ends);
  }
  return total;
}

/** Pairs that are the wrong way round, counted in a tree of sums. */
function inversions(values: readonly number[]): number {
  const size = values.reduce((most, value) => Math.max(most, value), 0) + 1;
  const tree = new Array<number>(size + 1).fill(0);
  let total = 0;
  for (const [seen, value] of values.entries()) {
    let notLarger = 0;
    for (let at = value + 1; at > 0; at -= at & -at) notLarger += tree[at] ?? 0;
    total += seen - notLarger;
    for (let at = value + 1; at <= size; at += at & -at) tree[at] = (tree[at] ?? 0) + 1;
  }
  return total;
}
