import type { Talk, TalkNode } from "../../../api/types";

/** What is fixed to a node: ends of branches, save points and snapshots. */
export interface Marks {
  branches: string[];
  saves: string[];
  /** Ids of snapshots that were taken when it was the last node. */
  snapshots: string[];
}

/** A conversation with its branches. */
export interface TalkTree {
  nodes: ReadonlyMap<number, TalkNode>;
  children: ReadonlyMap<number, readonly number[]>;
  roots: readonly number[];
  marks: ReadonlyMap<number, Marks>;
  /** The last node of the branch that is chosen, where the agent goes on. */
  head: number | undefined;
  /** From the first node to the head. */
  live: ReadonlySet<number>;
}

type Snapshots = readonly { id: string; node?: number | null | undefined }[];

/** Reads a conversation as a tree. */
export function treeOf(
  talk: Pick<Talk, "branch" | "branches" | "saves">,
  items: readonly TalkNode[],
  snapshots: Snapshots,
): TalkTree {
  const nodes = new Map(items.map((node) => [node.number, node]));
  const children = new Map<number, number[]>();
  const roots: number[] = [];
  for (const { number, parent } of items) {
    // A node comes after its parent; anything else would be a circle.
    if (typeof parent !== "number" || parent >= number || !nodes.has(parent)) roots.push(number);
    else children.set(parent, [...(children.get(parent) ?? []), number]);
  }
  const marks = new Map<number, Marks>();
  const mark = (node: unknown, kind: keyof Marks, name: string) => {
    if (typeof node !== "number" || !nodes.has(node)) return;
    const known = marks.get(node) ?? { branches: [], saves: [], snapshots: [] };
    known[kind].push(name);
    marks.set(node, known);
  };
  const branches = Object.entries(talk.branches as Record<string, unknown>);
  for (const [name, node] of branches) mark(node, "branches", name);
  for (const [name, node] of Object.entries(talk.saves as Record<string, unknown>))
    mark(node, "saves", name);
  for (const { id, node } of snapshots) mark(node, "snapshots", id);
  const end = branches.find(([name]) => name === talk.branch)?.[1];
  const head = typeof end === "number" && nodes.has(end) ? end : undefined;
  const tree = { nodes, children, roots, marks, head };
  return { ...tree, live: new Set(head === undefined ? [] : wayTo(tree, head)) };
}

/** The nodes from the first one to this one. */
export function wayTo({ nodes }: Pick<TalkTree, "nodes">, number: number): number[] {
  const way: number[] = [];
  for (let at: number | null | undefined = number; typeof at === "number"; ) {
    const node = nodes.get(at);
    if (!node) break;
    way.push(at);
    at = typeof node.parent === "number" && node.parent < at ? node.parent : undefined;
  }
  return way.reverse();
}

/** The ends of the tree, and the ends of branches. */
export function leavesOf({ nodes, children, marks }: TalkTree): number[] {
  return [...nodes.keys()].filter(
    (number) => !children.has(number) || (marks.get(number)?.branches.length ?? 0) > 0,
  );
}

/** A line of the tree: a node, or several in a row that are folded. */
export interface TreeLine {
  /** Unique, and the same after more nodes have come. */
  key: string;
  /** Of a folded run the first. */
  number: number;
  folded: readonly number[];
  lane: number;
  /** Lanes to the left whose line goes on below. */
  through: readonly number[];
  /** Begins a branch beside the lane before it. */
  isFork: boolean;
  /** Nothing follows in its lane. */
  isEnd: boolean;
}

/** So many nodes in a row without anything special are worth a fold. */
const FOLD_MIN = 3;

/**
 * The tree as lines: what goes on stays in its lane, other branches stand before it, one lane to the
 * right. Nodes in a row without a fork or a mark are one line unless it is opened.
 */
export function linesOf(tree: TalkTree, opened: ReadonlySet<number> | "all"): TreeLine[] {
  const lines: TreeLine[] = [];
  type Todo = { number: number; lane: number; through: readonly number[]; isFork: boolean };
  const begin = (number: number): Todo => ({ number, lane: 0, through: [], isFork: false });
  // A stack of its own: a conversation is longer than what may call itself.
  const todo: Todo[] = tree.roots.map(begin).reverse();
  for (let next = todo.pop(); next; next = todo.pop()) {
    const { lane, through, isFork } = next;
    const run = runFrom(tree, next.number);
    const last = run.at(-1) ?? next.number;
    const after = ordered(tree, last);
    const isFolded = run.length >= FOLD_MIN && opened !== "all" && !opened.has(next.number);
    const place = { lane, through };
    if (isFolded) {
      const number = next.number;
      lines.push({ ...place, key: `fold-${number}`, number, folded: run, isFork, isEnd: false });
    } else {
      for (const [at, number] of run.entries()) {
        const first = isFork && at === 0;
        lines.push({ ...place, key: `${number}`, number, folded: [], isFork: first, isEnd: false });
      }
    }
    const drawn = lines.at(-1);
    if (drawn) drawn.isEnd = after.length === 0;
    const [on, ...others] = after;
    if (on !== undefined) todo.push({ number: on, lane, through, isFork: false });
    for (const other of others.reverse()) {
      todo.push({ number: other, lane: lane + 1, through: [...through, lane], isFork: true });
    }
  }
  return lines;
}

/** The fold that hides a node, if one does. */
export function foldsWith(tree: TalkTree, number: number | undefined): ReadonlySet<number> {
  if (number === undefined) return new Set();
  const hiding = linesOf(tree, new Set()).find(({ folded }) => folded.includes(number));
  return new Set(hiding ? [hiding.number] : []);
}

/** What follows a node: the way that is chosen first, then by age. */
function ordered({ children, live }: TalkTree, number: number): number[] {
  const after = [...(children.get(number) ?? [])];
  return after.sort((a, b) => Number(live.has(b)) - Number(live.has(a)) || a - b);
}

/** From a node as far as nothing is special; what is special stands alone. */
function runFrom(tree: TalkTree, from: number): number[] {
  const run = [from];
  if (isSpecial(tree, from)) return run;
  for (;;) {
    const after = tree.children.get(run.at(-1) ?? from) ?? [];
    const [next] = after;
    if (next === undefined || after.length !== 1 || isSpecial(tree, next)) return run;
    run.push(next);
  }
}

/** A first node, an end, a fork, what a person said, and all that has a mark. */
function isSpecial({ nodes, children, marks }: TalkTree, number: number): boolean {
  const node = nodes.get(number);
  return (
    marks.has(number) ||
    (children.get(number)?.length ?? 0) !== 1 ||
    typeof node?.parent !== "number" ||
    node.kind === "user" ||
    node.kind === "summary"
  );
}

const NOUNS: Record<string, string> = {
  user: "told",
  model: "said",
  thinking: "thought",
  call: "called",
  result: "returned",
  summary: "summed up",
  kept: "kept",
};

/** `4 called, 4 returned, 2 said`: what a few nodes are, the most frequent first. */
export function tally(tree: Pick<TalkTree, "nodes">, numbers: readonly number[]): string {
  const many = new Map<string, number>();
  for (const number of numbers) {
    const kind = tree.nodes.get(number)?.kind ?? "";
    many.set(kind, (many.get(kind) ?? 0) + 1);
  }
  return [...many]
    .sort(([, a], [, b]) => b - a)
    .map(([kind, times]) => `${times} ${NOUNS[kind] ?? kind}`)
    .join(", ");
}

/** What some nodes cost together, in millionths of a dollar; nothing if it is known of none. */
export function costOf(
  tree: Pick<TalkTree, "nodes">,
  numbers: readonly number[],
): number | undefined {
  const known = numbers.flatMap((number) => tree.nodes.get(number)?.costMicros ?? []);
  return known.length === 0 ? undefined : known.reduce((sum, one) => sum + one, 0);
}

/** The first line of what was said, cut; a heading only if there is nothing else. */
export function summaryOf({ text }: Pick<TalkNode, "text">, most = 160): string {
  const lines = text.split("\n", 40).map((one) => one.trim());
  const said = lines.filter((one) => one !== "");
  const line = said.find((one) => !one.startsWith("#")) ?? said[0] ?? "";
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** Two ways through a conversation: what they share, and what each has alone. */
export interface Comparison {
  /** The last node that both have. */
  shared: number | undefined;
  both: number;
  left: number[];
  right: number[];
}

export function compare(tree: TalkTree, left: number, right: number): Comparison {
  const [one, two] = [wayTo(tree, left), wayTo(tree, right)];
  let both = 0;
  while (both < one.length && one[both] === two[both]) both += 1;
  return { shared: one[both - 1], both, left: one.slice(both), right: two.slice(both) };
}
