import type { ActionSpec } from "../../actions/actions";
import { keysOf } from "../../actions/keymap";
import { words } from "../../ui/format";

/** Whether a person chose other keys. */
export function isChanged(spec: ActionSpec): boolean {
  return keysOf(spec).join("\n") !== (spec.keys ?? []).join("\n");
}

/** One press, or two in a row. */
export function addChord(first: string | undefined, chord: string): string {
  return first === undefined ? chord : `${first} ${chord}`;
}

/** Actions by where they work: everywhere, in lists, then page by page. */
export function groupsOf(specs: readonly ActionSpec[]): [string, ActionSpec[]][] {
  const groups = new Map<string, ActionSpec[]>([
    ["Everywhere", []],
    ["Go to", []],
    ["In a list", []],
  ]);
  for (const spec of specs) {
    const name = groupOf(spec);
    groups.set(name, [...(groups.get(name) ?? []), spec]);
  }
  return [...groups].filter(([, list]) => list.length > 0);
}

function groupOf({ id, scope }: ActionSpec): string {
  if (id.startsWith("go.")) return "Go to";
  if (scope === "global") return "Everywhere";
  return scope === "list" ? "In a list" : words(scope);
}
