import type { Bead, Convoy } from "../../../api/types";
import type { BeadGraph } from "../graph";
import { plainWords, type Term } from "./parse";

/** What a query is asked about besides the beads themselves. */
export interface Around {
  graph: BeadGraph;
  convoys: readonly Convoy[];
  /** The name of the reader, such as `user:owner`. */
  me: string;
  now: number;
}

/** Tells for a query whether a bead is one of those that are asked for. */
export function matcher(terms: readonly Term[], around: Around): (bead: Bead) => boolean {
  const convoysOf = new Map<string, string[]>();
  for (const { id, name, beads } of around.convoys) {
    for (const bead of beads) {
      const known = convoysOf.get(bead) ?? [];
      convoysOf.set(bead, [...known, id.toLowerCase(), name.toLowerCase()]);
    }
  }
  const holds = (term: Term, bead: Bead): boolean => {
    if (term.kind === "text") return hasText(bead, term.text);
    if (term.kind === "age") {
      const at = Date.parse(term.field === "updated" ? bead.updatedAt : bead.createdAt);
      return term.isWithin ? around.now - at < term.ms : around.now - at > term.ms;
    }
    return term.values.some((value) => hasField(bead, term.field, value, around, convoysOf));
  };
  return (bead) => terms.every((term) => holds(term, bead) !== term.isNot);
}

/** The words of beads, each found out once: beads are never changed in place. */
const SAID = new WeakMap<Bead, string>();

/** Everything that a bead says, its words between single spaces; for thousands that takes a while the first time. */
export function said(bead: Bead): string {
  const known = SAID.get(bead);
  if (known !== undefined) return known;
  const { id, title, description, acceptance, agent, comments, labels } = bead;
  const texts = [id, title, description, acceptance, agent];
  const all = [...texts, ...comments.map(({ text }) => text), ...labels];
  const words = ` ${plainWords(all.join("\n")).join(" ")}`;
  SAID.set(bead, words);
  return words;
}

/** Whether words stand so beside each other; of the last one the beginning will do. */
function hasText(bead: Bead, text: string): boolean {
  return said(bead).includes(` ${text}`);
}

function hasField(
  bead: Bead,
  field: string,
  value: string,
  { graph, me }: Around,
  convoysOf: ReadonlyMap<string, readonly string[]>,
): boolean {
  switch (field) {
    case "status":
      return bead.status === value;
    case "priority":
      return bead.priority === value;
    case "type":
      return bead.type.toLowerCase() === value;
    case "label":
      return bead.labels.some((label) => label.toLowerCase() === value);
    case "blocked":
      return graph.isBlocked(bead) === (value === "yes");
    case "agent":
      if (value === "none") return !bead.agent;
      if (value === "me") return bead.agent === me;
      return [value, `user:${value}`].includes(bead.agent?.toLowerCase() ?? "");
    case "parent":
      return value === "none" ? !bead.parentBead : bead.parentBead?.toLowerCase() === value;
    case "convoy": {
      const names = convoysOf.get(bead.id);
      return value === "none" ? names === undefined : (names?.includes(value) ?? false);
    }
    default:
      return false;
  }
}
