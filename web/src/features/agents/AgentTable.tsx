import { useMemo, useState } from "react";
import type { Agent } from "../../api/types";
import { Menu } from "../../ui/Menu";
import { Time } from "../../ui/Time";
import { type Column, DataTable } from "../../ui/table/DataTable";
import { useLatest } from "../../ui/useLatest";
import { Selected } from "./AgentCards";
import { BeadLink, ContextCell, DoingCell, TodayCell, UpTime } from "./AgentParts";
import { AgentSpend, AgentStatus, AgentWalls } from "./AgentStatus";
import styles from "./AgentTable.module.css";
import { useAgentActs, useAgentKeys } from "./useAgentActs";
import { VIEWS, viewOf } from "./views";

export const COLUMNS: readonly Column<Agent>[] = [
  {
    id: "name",
    title: "Name",
    width: "minmax(96px, 1fr)",
    cell: (agent) => <strong className={styles.name}>{agent.label}</strong>,
    sortBy: (agent) => agent.label,
    always: true,
  },
  {
    id: "status",
    title: "Status",
    width: "134px",
    cell: (agent) => <AgentStatus agent={agent} />,
    sortBy: (agent) => VIEWS.indexOf(viewOf(agent)),
  },
  {
    id: "doing",
    title: "Doing",
    width: "minmax(140px, 3fr)",
    cell: (agent) => <DoingCell agent={agent} />,
  },
  {
    id: "bead",
    title: "Bead",
    width: "100px",
    cell: (agent) => <BeadLink bead={agent.bead} />,
    sortBy: (agent) => agent.bead,
  },
  {
    id: "walls",
    title: "Runtime",
    width: "168px",
    cell: (agent) => <AgentWalls agent={agent} />,
    sortBy: (agent) => agent.runtime,
  },
  {
    id: "model",
    title: "Model",
    width: "128px",
    cell: (agent) => agent.model,
    sortBy: (agent) => agent.model,
  },
  {
    id: "context",
    title: "Context",
    width: "104px",
    cell: (agent) => <ContextCell agent={agent} />,
  },
  {
    id: "today",
    title: "Today",
    width: "80px",
    cell: (agent) => <TodayCell agent={agent} />,
  },
  {
    id: "cost",
    title: "Cost",
    width: "104px",
    cell: (agent) => <AgentSpend agent={agent} />,
    sortBy: (agent) => agent.spentMicros,
  },
  {
    id: "up",
    title: "Up",
    width: "56px",
    cell: (agent) => <UpTime agent={agent} />,
    sortBy: (agent) => agent.spawnedAt,
  },
  {
    id: "updated",
    title: "Updated",
    width: "84px",
    cell: (agent) => <Time at={agent.updatedAt} />,
    sortBy: (agent) => agent.updatedAt,
  },
];

interface AgentTableProps {
  agents: readonly Agent[];
  peeked: string | undefined;
  onPeek: (agent: Agent) => void;
  onOpen: (agent: Agent) => void;
  /** Which columns are shown. */
  shown: ReadonlySet<string>;
}

const keyOf = (agent: Agent) => agent.id;

/** Agents as rows, to compare and to change many at once. */
export function AgentTable({ agents, peeked, onPeek, onOpen, shown }: AgentTableProps) {
  const { act, menuOf } = useAgentActs();
  const [cursor, setCursor] = useState<string>();
  const at = cursor ?? peeked;
  useAgentKeys(
    agents.find((agent) => agent.id === at),
    act,
  );
  const menu = useLatest(menuOf);
  const columns = useMemo<readonly Column<Agent>[]>(
    () => [
      ...COLUMNS,
      {
        id: "acts",
        title: "",
        width: "44px",
        always: true,
        cell: (agent) => (
          <Menu label={`Do something with ${agent.label}`} size="small" items={() => menu(agent)} />
        ),
      },
    ],
    [menu],
  );
  return (
    <DataTable
      label="Agents"
      noun="agent"
      columns={columns}
      shown={shown}
      rows={agents}
      keyOf={keyOf}
      onPeek={onPeek}
      onOpen={onOpen}
      peeked={peeked}
      onCursor={setCursor}
      bulk={(selection, clear) => <Selected list={{ selection, clear }} act={act} />}
    />
  );
}
