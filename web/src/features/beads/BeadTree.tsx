import { useMemo } from "react";
import type { Bead } from "../../api/types";
import { Icon } from "../../ui/Icon";
import { ShortId } from "../../ui/ShortId";
import { type Column, DataTable } from "../../ui/table/DataTable";
import { useNow } from "../../ui/useNow";
import { AgentMark, StatusMark, TypeMark } from "./BeadMarks";
import styles from "./BeadTable.module.css";
import { type BeadGraph, explain } from "./graph";
import { isDeletedHere } from "./holding";
import { idWidth } from "./looks";
import { type TreeKind, type TreeRow, treeRows } from "./tree";
import { useClosed } from "./useClosed";

interface BeadTreeProps {
  beads: readonly Bead[];
  graph: BeadGraph;
  kind: TreeKind;
  peeked: string | undefined;
  onPeek: (id: string) => void;
}

const INDENT_PX = 20;

/** Beads as a tree, each with why it can be begun, or why not. */
export function BeadTree({ beads, graph, kind, peeked, onPeek }: BeadTreeProps) {
  const [closed, toggle] = useClosed();
  const now = useNow(60_000);
  const rows = useMemo(() => treeRows(graph, beads, kind, closed), [graph, beads, kind, closed]);
  const columns: readonly Column<TreeRow>[] = [
    {
      id: "title",
      title: kind === "parts" ? "Bead and its parts" : "Bead and what it waits on",
      width: "minmax(260px, 3fr)",
      cell: (row) => <Branch row={row} onToggle={() => toggle(row.path)} />,
    },
    {
      id: "id",
      title: "Id",
      width: idWidth(graph.longestId),
      cell: ({ bead }) => <ShortId id={bead.id} isWhole />,
    },
    {
      id: "status",
      title: "Status",
      width: "116px",
      cell: ({ bead }) => <StatusMark bead={bead} />,
    },
    {
      id: "agent",
      title: "Agent",
      width: "120px",
      cell: ({ bead }) => <AgentMark agent={bead.agent} />,
    },
    {
      id: "why",
      title: "Why ready, why blocked",
      width: "minmax(240px, 3fr)",
      cell: ({ bead }) => {
        const text = explain(graph, bead, now);
        return (
          <span className={graph.isBlocked(bead) ? styles.blocked : styles.why} title={text}>
            {text}
          </span>
        );
      },
    },
  ];
  const open = (row: TreeRow) => onPeek(row.bead.id);
  return (
    <DataTable
      label="Tree of beads"
      noun="bead"
      columns={columns}
      rows={rows}
      keyOf={({ path }) => path}
      isTaken={({ bead }) => isDeletedHere(bead)}
      onOpen={open}
      onPeek={open}
      peeked={rows.find(({ bead }) => bead.id === peeked)?.path}
    />
  );
}

function Branch({ row, onToggle }: { row: TreeRow; onToggle: () => void }) {
  const { bead, depth, hasMore, isOpen } = row;
  return (
    <span className={styles.branch} style={{ paddingInlineStart: `${depth * INDENT_PX}px` }}>
      {hasMore ? (
        <button
          type="button"
          className={styles.fold}
          aria-expanded={isOpen}
          aria-label={`${isOpen ? "Close" : "Open"} ${bead.title}`}
          onClick={onToggle}
        >
          <Icon name={isOpen ? "down" : "chevron"} size={13} />
        </button>
      ) : (
        <span className={styles.leaf} />
      )}
      <TypeMark type={bead.type} isShort />
      <span className={styles.name} title={bead.title}>
        {bead.title}
        {depth > 0 && <span className="visually-hidden">, level {depth + 1}</span>}
      </span>
    </span>
  );
}
