import type { Bead, Convoy } from "../../../api/types";
import { FIELDS, wordsOf } from "./parse";

/** One way to go on. */
export interface Completion {
  text: string;
  hint?: string;
}

/** The ways to go on with the word at the cursor, and which letters they replace. */
export interface Completions {
  from: number;
  to: number;
  options: Completion[];
}

/** So many are enough to choose from. */
const MOST = 8;
const AGES = ["<1d", "<2d", "<1w", ">1w", ">4w"];

/** What can be written at a place of a query. */
export function complete(
  query: string,
  caret: number,
  known: { beads: readonly Bead[]; convoys: readonly Convoy[] },
): Completions {
  const word = wordsOf(query).find(({ start, end }) => start <= caret && caret <= end);
  const from = word?.start ?? caret;
  const to = word?.end ?? caret;
  const typed = query.slice(from, caret);
  const sign = typed.startsWith("-") ? "-" : "";
  const text = typed.slice(sign.length).toLowerCase();
  const colon = text.indexOf(":");
  if (colon < 0) {
    const fields = Object.entries(FIELDS).filter(([field]) => field.startsWith(text));
    const options = fields.map(([field, { hint }]) => ({ text: `${sign}${field}:`, hint }));
    return { from, to, options: options.slice(0, MOST + 2) };
  }
  const field = text.slice(0, colon);
  const done = text.slice(0, text.lastIndexOf(",") + 1) || `${field}:`;
  const begun = text.slice(done.length);
  const options = valuesOf(field, known)
    .filter((value) => value.startsWith(begun) && value !== begun)
    .slice(0, MOST)
    .map((value) => ({ text: `${sign}${done}${/\s/.test(value) ? `"${value}"` : value}` }));
  return { from, to, options };
}

function valuesOf(
  field: string,
  { beads, convoys }: { beads: readonly Bead[]; convoys: readonly Convoy[] },
): string[] {
  const { words } = FIELDS[field] ?? {};
  if (words) return [...words];
  const distinct = (values: readonly string[]) =>
    [...new Set(values.map((value) => value.toLowerCase()))].sort();
  switch (field) {
    case "agent": {
      const names = beads.flatMap(({ agent }) => (agent ? agent.replace(/^user:/, "") : []));
      return ["none", "me", ...distinct(names)];
    }
    case "label":
      return distinct(beads.flatMap(({ labels }) => labels));
    case "convoy":
      return ["none", ...distinct(convoys.map(({ name }) => name))];
    case "parent":
      return ["none", ...distinct(beads.flatMap(({ parentBead }) => parentBead ?? []))];
    case "updated":
    case "created":
      return AGES;
    default:
      return [];
  }
}
