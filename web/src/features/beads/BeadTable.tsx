import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { useAction } from "../../actions/actions";
import type { Bead, Convoy } from "../../api/types";
import { money } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Menu, type MenuItem } from "../../ui/Menu";
import { ShortId } from "../../ui/ShortId";
import { Badge } from "../../ui/Status";
import { Time } from "../../ui/Time";
import { type Column, DataTable } from "../../ui/table/DataTable";
import { BEAD } from "./actions";
import { BeadBar } from "./BeadBar";
import { AgentMark, LockMark, PriorityMark, StatusMark, TypeMark } from "./BeadMarks";
import styles from "./BeadTable.module.css";
import type { BeadGraph } from "./graph";
import { type GroupKind, grouped, keyOfRow, type TableRow } from "./groups";
import { PRIORITIES, priorityOf, STATUSES, statusOf } from "./looks";
import { beadQueries } from "./queries";
import { TitleField } from "./TitleField";
import { useBeadActs } from "./useBeadActs";
import { useClosed } from "./useClosed";

type BeadColumn = Omit<Column<Bead>, "cell">;

/** The columns, without what is in their cells; the menu to choose them needs no more. */
export const COLUMNS: readonly BeadColumn[] = [
  { id: "id", title: "Id", width: "104px", sortBy: ({ id }) => id },
  {
    id: "title",
    title: "Title",
    width: "minmax(190px, 4fr)",
    sortBy: ({ title }) => title,
    always: true,
  },
  {
    id: "status",
    title: "Status",
    width: "122px",
    sortBy: (bead) => STATUSES.indexOf(statusOf(bead)),
  },
  {
    id: "priority",
    title: "Priority",
    width: "102px",
    sortBy: (bead) => PRIORITIES.indexOf(priorityOf(bead)),
  },
  { id: "type", title: "Type", width: "92px", sortBy: ({ type }) => type },
  { id: "agent", title: "Agent", width: "116px", sortBy: ({ agent }) => agent },
  { id: "waits", title: "Waits on", width: "136px" },
  { id: "labels", title: "Labels", width: "84px", sortBy: ({ labels }) => labels.join(" ") },
  { id: "cost", title: "Cost", width: "76px", isNumber: true },
  { id: "updated", title: "Updated", width: "76px", sortBy: ({ updatedAt }) => updatedAt },
  { id: "created", title: "Created", width: "76px", sortBy: ({ createdAt }) => createdAt },
];

interface BeadTableProps {
  beads: readonly Bead[];
  graph: BeadGraph;
  convoys: readonly Convoy[];
  group: GroupKind;
  shown: ReadonlySet<string>;
  peeked: string | undefined;
  onPeek: (id: string) => void;
}

/** Beads as rows: to sort, to group, to change in place and many at once. */
export function BeadTable({ beads, graph, convoys, group, shown, peeked, onPeek }: BeadTableProps) {
  const [closed, toggle] = useClosed();
  const [cursor, setCursor] = useState<string>();
  const [editing, setEditing] = useState<string>();
  const columns = useCells(graph, editing, setEditing);
  const rows = useMemo(() => beads.map<TableRow>((bead) => ({ kind: "bead", bead })), [beads]);
  const arrange = useCallback(
    (sorted: readonly TableRow[]) => grouped(sorted, group, closed, convoys),
    [group, closed, convoys],
  );
  const open = (row: TableRow) => (row.kind === "bead" ? onPeek(row.bead.id) : toggle(row.id));
  const here = cursor === undefined ? undefined : graph.byId.get(cursor);
  const { assignToMe } = useBeadActs();
  useAction(BEAD.edit, () => setEditing(cursor), { when: here !== undefined });
  useAction(BEAD.assign, () => here && assignToMe([here]), {
    title: here && `Assign ${here.id} to me`,
    when: here !== undefined,
  });
  return (
    <DataTable
      label="Beads"
      noun="bead"
      columns={columns}
      shown={shown}
      rows={rows}
      keyOf={keyOfRow}
      arrange={arrange}
      headOf={(row) =>
        row.kind === "group" ? (
          <button
            type="button"
            className={styles.group}
            aria-expanded={!closed.has(row.id)}
            onClick={() => toggle(row.id)}
          >
            <Icon name={closed.has(row.id) ? "chevron" : "down"} size={13} />
            {row.title}
            <span className={styles.soft}>{row.count}</span>
          </button>
        ) : undefined
      }
      onOpen={open}
      onPeek={open}
      peeked={peeked}
      onCursor={setCursor}
      bulk={(selection, clear) => {
        const chosen = selection.flatMap((row) => (row.kind === "bead" ? [row.bead] : []));
        return <BeadBar beads={chosen} onClear={clear} />;
      }}
    />
  );
}

/** Columns whose cells are buttons; what they say stands below the head of the column. */
const MENUS = new Set(["status", "priority", "type", "agent"]);

function menuCell(label: string, button: React.ReactNode, items: readonly MenuItem[]) {
  return (
    <Menu size="small" look="quiet" align="left" label={label} button={button} items={items} />
  );
}

/** What is in the cells; most can be changed right there. */
function useCells(
  graph: BeadGraph,
  editing: string | undefined,
  setEditing: (id: string | undefined) => void,
): readonly Column<TableRow>[] {
  const { data: costs } = useQuery(beadQueries.costs());
  const { statusItems, priorityItems, typeItems, agentItems } = useBeadActs();
  const cells: Record<string, (bead: Bead) => React.ReactNode> = {
    id: (bead) => <ShortId id={bead.id} />,
    title: (bead) => (
      // biome-ignore lint/a11y/noStaticElementInteractions: the key for it is E
      <div className={styles.title} onDoubleClick={() => setEditing(bead.id)} data-title={bead.id}>
        <TitleField
          bead={bead}
          isSmall
          isEditing={editing === bead.id}
          onEditing={(is) => setEditing(is ? bead.id : undefined)}
        />
      </div>
    ),
    status: (bead) =>
      menuCell(
        `Status of ${bead.id}: ${bead.status}`,
        <StatusMark bead={bead} />,
        statusItems([bead]),
      ),
    priority: (bead) =>
      menuCell(
        `Priority of ${bead.id}: ${bead.priority}`,
        <PriorityMark bead={bead} />,
        priorityItems([bead]),
      ),
    type: (bead) =>
      menuCell(
        `Type of ${bead.id}: ${bead.type}`,
        <TypeMark type={bead.type} />,
        typeItems([bead]),
      ),
    agent: (bead) =>
      menuCell(
        `Agent of ${bead.id}: ${bead.agent ?? "nobody"}`,
        <AgentMark agent={bead.agent} />,
        agentItems([bead]),
      ),
    waits: (bead) => bead.status !== "done" && <LockMark holds={graph.holdsOf(bead)} isShort />,
    labels: (bead) => bead.labels.map((label) => <Badge key={label}>{label}</Badge>),
    cost: (bead) => costs && money(costs.get(bead.id) ?? 0),
    updated: (bead) => <Time at={bead.updatedAt} />,
    created: (bead) => <Time at={bead.createdAt} />,
  };
  return COLUMNS.map(({ sortBy, ...column }) => {
    const by = column.id === "cost" ? ({ id }: Bead) => costs?.get(id) ?? 0 : sortBy;
    const isMenu = MENUS.has(column.id);
    return {
      ...column,
      cell: (row: TableRow) => {
        const inside = row.kind === "bead" ? cells[column.id]?.(row.bead) : undefined;
        return isMenu ? <div className={styles.menu}>{inside}</div> : inside;
      },
      ...(by && { sortBy: (row: TableRow) => (row.kind === "bead" ? by(row.bead) : undefined) }),
    };
  });
}
