import type { Bead, Convoy } from "../../api/types";
import { words } from "../../ui/format";
import { PRIORITIES, PRIORITY_LOOKS, priorityOf, STATUS_LOOKS, STATUSES, statusOf } from "./looks";

/** A row of the table: a bead, or the head of a group of them. */
export type TableRow =
  | { kind: "bead"; bead: Bead }
  | { kind: "group"; id: string; title: string; count: number };

export const GROUPS = ["none", "status", "priority", "type", "agent", "convoy"] as const;
export type GroupKind = (typeof GROUPS)[number];

export const GROUP_TITLES: Record<GroupKind, string> = {
  none: "No groups",
  status: "By status",
  priority: "By priority",
  type: "By type",
  agent: "By agent",
  convoy: "By convoy",
};

const rows = new WeakMap<Bead, TableRow>();

/** The row of a bead: the same one for as long as the bead stays as it is. */
export function rowOf(bead: Bead): TableRow {
  const known = rows.get(bead);
  if (known) return known;
  const row: TableRow = { kind: "bead", bead };
  rows.set(bead, row);
  return row;
}

export function keyOfRow(row: TableRow): string {
  return row.kind === "bead" ? row.bead.id : `group ${row.id}`;
}

/** In which group a bead is: its place among the groups, its id and what it is called. */
function groupOf(bead: Bead, kind: GroupKind, convoys: ReadonlyMap<string, string>) {
  switch (kind) {
    case "status":
      return { at: STATUSES.indexOf(statusOf(bead)), title: STATUS_LOOKS[statusOf(bead)].title };
    case "priority":
      return {
        at: PRIORITIES.indexOf(priorityOf(bead)),
        title: PRIORITY_LOOKS[priorityOf(bead)].title,
      };
    case "type":
      return { at: 0, title: words(bead.type) };
    case "agent":
      return { at: bead.agent ? 0 : 1, title: bead.agent?.replace(/^user:/, "") ?? "Nobody" };
    default: {
      const name = convoys.get(bead.id);
      return { at: name === undefined ? 1 : 0, title: name ?? "In no convoy" };
    }
  }
}

/** Brings sorted beads into groups with heads; those that are closed keep only their head. */
export function grouped(
  rows: readonly TableRow[],
  kind: GroupKind,
  closed: ReadonlySet<string>,
  convoys: readonly Convoy[],
): readonly TableRow[] {
  if (kind === "none") return rows;
  const convoyOf = new Map(
    convoys.flatMap(({ name, beads }) => beads.map((id) => [id, name] as const)),
  );
  const groups = new Map<string, { at: number; title: string; rows: TableRow[] }>();
  for (const row of rows) {
    if (row.kind !== "bead") continue;
    const { at, title } = groupOf(row.bead, kind, convoyOf);
    const group = groups.get(title) ?? { at, title, rows: [] };
    group.rows.push(row);
    groups.set(title, group);
  }
  return [...groups.values()]
    .toSorted((a, b) => a.at - b.at || a.title.localeCompare(b.title))
    .flatMap(({ title, rows: inside }) => {
      const id = `${kind} ${title}`;
      const head: TableRow = { kind: "group", id, title, count: inside.length };
      return closed.has(id) ? [head] : [head, ...inside];
    });
}
