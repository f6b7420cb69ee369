import { useState } from "react";
import type { Team } from "../../api/types";
import { money } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { Meter, ProgressRing } from "../../ui/Meter";
import { Money } from "../../ui/Money";

import { Time } from "../../ui/Time";
import { type Column, DataTable } from "../../ui/table/DataTable";
import { StateBadge } from "../queue/StateBadge";
import { deadlineOf, rolesOf, TEAM_STATES } from "./states";
import styles from "./TeamTable.module.css";
import { useTeamActs, useTeamKeys } from "./useTeamActs";

/** The columns of the table of teams. */
export const COLUMNS: readonly Column<Team>[] = [
  {
    id: "name",
    title: "Team",
    width: "minmax(140px, 2fr)",
    always: true,
    sortBy: ({ name }) => name,
    cell: ({ name }) => <strong className={styles.name}>{name}</strong>,
  },
  {
    id: "state",
    title: "State",
    width: "116px",
    sortBy: ({ state }) => TEAM_STATES.indexOf(state as (typeof TEAM_STATES)[number]),
    cell: ({ state }) => <StateBadge state={state} />,
  },
  {
    id: "alert",
    title: "Alert",
    width: "minmax(120px, 2fr)",
    cell: ({ alert, error }) => {
      const text = alert ?? error;
      return text ? (
        <span className={styles.alert} title={text}>
          <Icon name="alert" size={13} />
          <span>{text}</span>
        </span>
      ) : null;
    },
  },
  {
    id: "strategy",
    title: "Strategy",
    width: "100px",
    sortBy: ({ strategy }) => strategy,
    cell: ({ strategy }) => strategy,
  },
  {
    id: "progress",
    title: "Done",
    width: "84px",
    sortBy: ({ progress }) => progress,
    cell: ({ progress }) => (
      <span className={styles.ring}>
        <ProgressRing percent={progress * 100} size={18} />
      </span>
    ),
  },
  {
    id: "members",
    title: "Members",
    width: "minmax(96px, 1fr)",
    sortBy: ({ size }) => size,
    cell: (team) => (
      <span title={rolesOf(team).join(", ")} className={styles.members}>
        {team.size} at once
      </span>
    ),
  },
  {
    id: "spent",
    title: "Spent",
    width: "minmax(120px, 1fr)",
    sortBy: ({ spentMicros }) => spentMicros,
    cell: (team) => <Spent team={team} />,
  },
  {
    id: "deadline",
    title: "Deadline",
    width: "88px",
    sortBy: (team) => deadlineOf(team) ?? "",
    cell: (team) => {
      const at = deadlineOf(team);
      return at ? <Time at={at} /> : null;
    },
  },
];

/** What was spent, beside what may be. */
export function Spent({ team }: { team: Team }) {
  const { spentMicros, budgetMicros } = team;
  if (!budgetMicros) return <Money micros={spentMicros} />;
  const text = `${money(spentMicros)} of ${money(budgetMicros)}`;
  return (
    <span className={styles.spent}>
      <span className="tabular">{text}</span>
      <Meter label="Budget" value={spentMicros} max={budgetMicros} text={text} />
    </span>
  );
}

interface TeamTableProps {
  teams: readonly Team[];
  shown: ReadonlySet<string>;
  peeked: string | undefined;
  onPeek: (team: Team) => void;
}

/** Teams as rows, with their keys. */
export function TeamTable({ teams, shown, peeked, onPeek }: TeamTableProps) {
  const { act, menuOf } = useTeamActs();
  const [cursor, setCursor] = useState<string>();
  useTeamKeys(
    teams.find(({ id }) => id === (cursor ?? peeked)),
    act,
  );
  return (
    <DataTable
      label="Teams"
      noun="team"
      columns={[
        ...COLUMNS,
        {
          id: "acts",
          title: "",
          width: "44px",
          always: true,
          cell: (team) => (
            <Menu label={`Do something with ${team.name}`} size="small" items={menuOf(team)} />
          ),
        },
      ]}
      shown={shown}
      rows={teams}
      keyOf={({ id }) => id}
      onOpen={onPeek}
      onPeek={onPeek}
      peeked={peeked}
      onCursor={setCursor}
      rowHeight={40}
    />
  );
}
