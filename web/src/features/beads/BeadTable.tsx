import { useQuery } from "@tanstack/react-query";
import { memo, useCallback, useMemo, useState } from "react";
import { useAction } from "../../actions/actions";
import type { Bead, Convoy } from "../../api/types";
import { Icon } from "../../ui/Icon";
import { type Column, DataTable } from "../../ui/table/DataTable";
import { useStartItem } from "../agents/spawn/useStartItem";
import { BEAD } from "./actions";
import { BeadBar } from "./BeadBar";
import { AroundCells, BeadCell } from "./BeadCells";
import styles from "./BeadTable.module.css";
import type { BeadGraph } from "./graph";
import { type GroupKind, grouped, keyOfRow, rowOf, type TableRow } from "./groups";
import { isDeletedHere } from "./holding";
import { idWidth, PRIORITIES, priorityOf, STATUSES, statusOf } from "./looks";
import { beadQueries } from "./queries";
import { useBeadActs } from "./useBeadActs";
import { useClosed } from "./useClosed";

type BeadColumn = Omit<Column<Bead>, "cell">;

/** The columns, without what is in their cells; the menu to choose them needs no more. */
export const COLUMNS: readonly BeadColumn[] = [
  // How wide it is depends on the ids, see `idWidth`.
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

/**
 * Beads as rows: to sort, to group, to change in place and many at once. Nothing of it is drawn while somebody types what
 * to look for; the rows follow when they are found.
 */
export const BeadTable = memo(function BeadTable(props: BeadTableProps) {
  const { beads, graph, convoys, group, shown, peeked, onPeek } = props;
  const [closed, toggle] = useClosed();
  const [cursor, setCursor] = useState<string>();
  const [editing, setEditing] = useState<string>();
  const { data: costs } = useQuery(beadQueries.costs());
  const acts = { ...useBeadActs(), startItem: useStartItem(graph) };
  const width = idWidth(graph.longestId);
  const columns = useMemo(() => columnsOf(costs, width), [costs, width]);
  const rows = useMemo(() => beads.map(rowOf), [beads]);
  const arrange = useCallback(
    (sorted: readonly TableRow[]) => grouped(sorted, group, closed, convoys),
    [group, closed, convoys],
  );
  const open = (row: TableRow) => (row.kind === "bead" ? onPeek(row.bead.id) : toggle(row.id));
  const here = cursor === undefined ? undefined : graph.byId.get(cursor);
  const { assignToMe, assignCli } = acts;
  useAction(BEAD.edit, () => setEditing(cursor), { when: here !== undefined });
  useAction(BEAD.assign, () => here && assignToMe([here]), {
    title: here && `Assign ${here.id} to me`,
    cli: here && assignCli(here),
    when: here !== undefined,
  });
  return (
    <AroundCells {...{ graph, costs, acts, editing, setEditing }}>
      <DataTable
        label="Beads"
        noun="bead"
        columns={columns}
        shown={shown}
        rows={rows}
        keyOf={keyOfRow}
        isTaken={(row) => row.kind === "bead" && isDeletedHere(row.bead)}
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
    </AroundCells>
  );
});

/** The columns with their cells; the cells draw themselves again when what they show has changed. */
function columnsOf(
  costs: ReadonlyMap<string, number> | undefined,
  widthOfIds: string,
): readonly Column<TableRow>[] {
  return COLUMNS.map(({ sortBy, ...column }) => {
    const by = column.id === "cost" ? ({ id }: Bead) => costs?.get(id) ?? 0 : sortBy;
    return {
      ...column,
      ...(column.id === "id" && { width: widthOfIds }),
      cell: (row: TableRow) =>
        row.kind === "bead" ? <BeadCell column={column.id} bead={row.bead} /> : undefined,
      ...(by && { sortBy: (row: TableRow) => (row.kind === "bead" ? by(row.bead) : undefined) }),
    };
  });
}
