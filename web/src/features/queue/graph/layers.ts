/** What a layout needs to know of a step; its state is no part of it, so nothing moves with it. */
export interface Linked {
  id: string;
  dependsOn: readonly string[];
}

/** A vertex of the layered graph: a step, or a place where a long edge passes a layer. */
export interface Vertex {
  /** The step; none where only an edge passes. */
  id?: string;
  layer: number;
  before: number[];
  after: number[];
}

/** An edge as the vertices it passes, from the step before to the step after. */
export interface Way {
  from: string;
  to: string;
  through: number[];
}

/** The graph in layers, each edge cut so that it only joins neighbours. */
export interface Layered {
  vertices: Vertex[];
  ways: Way[];
  layers: number[][];
}

/** More places than this for long edges would make the ordering slow; they are drawn straight. */
const PASSES_MAX = 4_000;

/** How far each step is from a beginning, by the longest way; a circle is cut where it is found. */
export function depthsOf(steps: readonly Linked[]): Map<string, number> {
  const known = new Set(steps.map(({ id }) => id));
  const left = new Map<string, number>();
  const after = new Map<string, string[]>();
  for (const { id, dependsOn } of steps) {
    const real = [...new Set(dependsOn)].filter((one) => known.has(one) && one !== id);
    left.set(id, real.length);
    for (const one of real) after.set(one, [...(after.get(one) ?? []), id]);
  }
  const depths = new Map<string, number>();
  const ready = steps.filter(({ id }) => left.get(id) === 0).map(({ id }) => id);
  for (const id of ready) depths.set(id, 0);
  for (let at = 0; at < ready.length; at += 1) {
    const id = ready[at] ?? "";
    for (const next of after.get(id) ?? []) {
      depths.set(next, Math.max(depths.get(next) ?? 0, (depths.get(id) ?? 0) + 1));
      const rest = (left.get(next) ?? 0) - 1;
      left.set(next, rest);
      if (rest === 0) ready.push(next);
    }
  }
  for (const { id } of steps) if (!depths.has(id)) depths.set(id, 0);
  return depths;
}

/** Puts steps into layers, in the order in which they are given. */
export function layered(steps: readonly Linked[]): Layered {
  const depths = depthsOf(steps);
  const vertices: Vertex[] = [];
  const layers: number[][] = [];
  const add = (layer: number, id?: string): number => {
    const number = vertices.length;
    vertices.push({ layer, before: [], after: [], ...(id !== undefined && { id }) });
    for (let at = layers.length; at <= layer; at += 1) layers.push([]);
    layers[layer]?.push(number);
    return number;
  };
  const numbers = new Map(steps.map(({ id }) => [id, add(depths.get(id) ?? 0, id)] as const));
  const join = (from: number, to: number) => {
    vertices[from]?.after.push(to);
    vertices[to]?.before.push(from);
  };
  const ways: Way[] = [];
  let passes = 0;
  for (const { id, dependsOn } of steps) {
    for (const from of new Set(dependsOn)) {
      const [first, last] = [numbers.get(from), numbers.get(id)];
      const [begin, end] = [depths.get(from) ?? 0, depths.get(id) ?? 0];
      if (first === undefined || last === undefined || begin >= end) continue;
      const through = [first];
      for (let layer = begin + 1; layer < end && passes < PASSES_MAX; layer += 1, passes += 1) {
        through.push(add(layer));
      }
      through.push(last);
      for (let at = 1; at < through.length; at += 1) {
        join(through[at - 1] as number, through[at] as number);
      }
      ways.push({ from, to: id, through });
    }
  }
  return { vertices, ways, layers };
}
