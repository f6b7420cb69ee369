import { serverNow } from "../../api/clock";
import type { Bead, BeadPatch } from "../../api/types";
import { shellWord } from "../../ui/format";
import { wordsIn } from "../../ui/typed";

const MINUTES: Readonly<Record<string, number>> = { d: 1440, h: 60, m: 1 };
const SPAN = /^(\d+(?:\.\d+)?)\s*([dhm]?)/;

/** Minutes from what a person typed: `90m`, `2h`, `1h 30m`, `3d`; nothing is 0, nonsense is `NaN`. */
export function minutesIn(text: string): number {
  let rest = text.trim().toLowerCase();
  let sum = 0;
  while (rest !== "") {
    const found = SPAN.exec(rest);
    if (!found) return Number.NaN;
    sum += Number(found[1]) * (MINUTES[found[2] || "m"] ?? 1);
    rest = rest.slice(found[0].length).trim();
  }
  return Math.round(sum);
}

/** The same back, exactly: `1h 30m`. */
export function spanOf(minutes: number): string {
  const parts: string[] = [];
  let rest = minutes;
  for (const [unit, size] of Object.entries(MINUTES)) {
    const many = Math.floor(rest / size);
    if (many > 0) parts.push(`${many}${unit}`);
    rest -= many * size;
  }
  return parts.join(" ") || "0m";
}

/** What is wrong with a typed estimate, as a sentence. */
export function estimateFault(text: string): string | undefined {
  return Number.isNaN(minutesIn(text)) ? "Write a time such as 90m, 2h or 3d." : undefined;
}

/** What a bead shows at once after a change; an empty text, a zero and a `null` remove. */
export function shownAfter(bead: Bead, change: BeadPatch): Partial<Bead> {
  const { metadata, parentBead, estimate, budget, defer, ...rest } = change;
  return {
    ...(rest as Partial<Bead>),
    ...(estimate !== undefined && { estimate: estimate || null }),
    ...(budget !== undefined && { budget: budget || null }),
    ...(parentBead !== undefined && { parentBead: parentBead || null }),
    ...(defer !== undefined && { defer: defer || null }),
    ...(metadata && { metadata: mergedMetadata(bead.metadata, metadata) }),
  };
}

function mergedMetadata(old: Bead["metadata"], change: Bead["metadata"]): Bead["metadata"] {
  const all = Object.entries({ ...old, ...change });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}

/** What a bead said before, in the fields of a change; an empty text or a zero removes. */
export function saidBefore(bead: Bead, change: BeadPatch): BeadPatch {
  const { metadata, ...rest } = change;
  const fields = Object.keys(rest) as (keyof typeof rest & keyof Bead)[];
  const isNumber = (field: string) => field === "estimate" || field === "budget";
  const old = fields.map((field) => [field, bead[field] ?? (isNumber(field) ? 0 : "")]);
  const members = Object.keys(metadata ?? {}).map((key) => [key, bead.metadata[key] ?? null]);
  // A time that has passed meanwhile holds nothing up any more, and the server takes none.
  const isOver = bead.defer && Date.parse(bead.defer) <= serverNow();
  return {
    ...Object.fromEntries(old),
    ...(change.defer !== undefined && isOver && { defer: "" }),
    ...(metadata && { metadata: Object.fromEntries(members) }),
  };
}

/** Something that is kept with a bead, as a text: what is no text is written as JSON. */
export function metadataText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** All labels of some beads, with how many of them have each; the most common first. */
export function labelCounts(beads: readonly Pick<Bead, "labels">[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const label of beads.flatMap(({ labels }) => labels)) {
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return [...counts].sort(([a, many], [b, more]) => more - many || a.localeCompare(b));
}

/** What a person writes about a bead that is not there yet; all as text. */
export interface BeadForm {
  title: string;
  description: string;
  type: string;
  priority: string;
  acceptance: string;
  labels: string;
  parent: string;
  blockedBy: string;
  estimate: string;
  budget: string;
}

/** The same on the command line. */
export function createCli(form: BeadForm): string {
  const words = [
    `godel bead create ${form.title.trim() === "" ? '"Title"' : shellWord(form.title.trim())}`,
    `--type ${form.type} --priority ${form.priority}`,
  ];
  const add = (name: string, value: string) => {
    if (value !== "") words.push(`--${name} ${shellWord(value)}`);
  };
  add("acceptance", form.acceptance.trim());
  for (const label of wordsIn(form.labels)) add("label", label);
  add("parent", form.parent.trim());
  for (const id of wordsIn(form.blockedBy)) add("blocked-by", id);
  add("estimate", form.estimate.replaceAll(/\s/g, ""));
  add("budget", form.budget.trim().replace(/^\$/, ""));
  return words.join(" ");
}
