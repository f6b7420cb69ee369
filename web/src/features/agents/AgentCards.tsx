import { useRef } from "react";
import type { Agent } from "../../api/types";
import { plural } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { NewRows } from "../../ui/NewRows";
import { BulkBar } from "../../ui/table/BulkBar";
import { useCalmRows } from "../../ui/table/useCalmRows";
import { useGridWindow } from "../../ui/table/useGridWindow";
import type { Rows } from "../../ui/table/useRows";
import { useLatest } from "../../ui/useLatest";
import { useStored } from "../../ui/useStored";
import { AgentCard } from "./AgentCard";
import styles from "./AgentCards.module.css";
import { AgentVerbs } from "./AgentVerbs";
import { useAgentActs, useAgentKeys } from "./useAgentActs";
import { byTeam, type Group, sharesOf, tallyOf } from "./views";

interface AgentCardsProps {
  agents: readonly Agent[];
  peeked: string | undefined;
  onPeek: (agent: Agent) => void;
  onOpen: (agent: Agent) => void;
  /** The names of teams, if the cards are to be grouped by them. */
  teams?: ReadonlyMap<string, string> | undefined;
}

const keyOf = (agent: Agent) => agent.id;
const CARD = { minWidth: 280, height: 192, gap: 12 };

/** Agents as cards. */
export function AgentCards({ agents, peeked, onPeek, onOpen, teams }: AgentCardsProps) {
  const box = useRef<HTMLDivElement>(null);
  const lines = { box, rows: agents, keyOf, onOpen, onPeek, canSelect: true, peeked };
  const { calm, list } = useCalmRows(lines);
  const { act, menuOf } = useAgentActs();
  const peek = useLatest(onPeek);
  const menu = useLatest(menuOf);
  const here = calm.rows.find((agent) => agent.id === (list.cursor ?? peeked));
  useAgentKeys(here, act);
  const draw = (agent: Agent) => (
    <li key={agent.id} className={styles.cell}>
      <AgentCard
        agent={agent}
        isPeeked={agent.id === peeked}
        isAt={agent.id === list.cursor}
        isSelected={list.selected.has(agent.id)}
        onToggle={list.toggle}
        onPeek={peek}
        menuOf={menu}
      />
    </li>
  );
  return (
    <>
      <div ref={box} className={styles.scroll}>
        <NewRows waiting={calm.waiting} noun="agent" onShow={calm.show} />
        {teams ? (
          <Teams groups={byTeam(calm.rows, teams)} draw={draw} />
        ) : (
          <Grid box={box} rows={calm.rows} draw={draw} />
        )}
      </div>
      <Selected list={list} act={act} />
    </>
  );
}

interface DrawProps {
  draw: (agent: Agent) => React.ReactNode;
}

/** All cards; only those in sight are drawn. */
function Grid({
  box,
  rows,
  draw,
}: DrawProps & { box: React.RefObject<HTMLDivElement | null>; rows: readonly Agent[] }) {
  const view = useGridWindow(box, rows.length, CARD);
  return (
    <div style={{ height: view.total }}>
      <ul
        className={styles.grid}
        aria-label="Agents"
        style={{ transform: `translateY(${view.offset}px)` }}
      >
        {rows.slice(view.first, view.end).map(draw)}
      </ul>
    </div>
  );
}

/** The agents of all teams; those of folded ones are not drawn, and of many only the first. */
function Teams({ groups, draw }: DrawProps & { groups: readonly Group[] }) {
  const [closed, setClosed] = useStored<readonly string[]>("agents.closed", []);
  const shares = sharesOf(groups, closed);
  return groups.map((group) => (
    <TeamCards
      key={group.id}
      group={group}
      draw={draw}
      most={shares.get(group.id)}
      onToggle={() =>
        setClosed(
          closed.includes(group.id)
            ? closed.filter((id) => id !== group.id)
            : [...closed, group.id],
        )
      }
    />
  ));
}

interface TeamCardsProps extends DrawProps {
  group: Group;
  /** How many of its cards are drawn; none is said of a team that is folded. */
  most: number | undefined;
  onToggle: () => void;
}

/** The agents of a team, behind a line that counts them. */
function TeamCards({ group, draw, most, onToggle }: TeamCardsProps) {
  const isOpen = most !== undefined;
  const left = group.agents.length - (most ?? 0);
  return (
    <section className={styles.team} aria-label={group.title}>
      <h2>
        <button type="button" className={styles.fold} aria-expanded={isOpen} onClick={onToggle}>
          <Icon name={isOpen ? "down" : "chevron"} size={14} />
          {group.title}
          <span className={styles.tally}>
            {plural(group.agents.length, "agent")}: {tallyOf(group.agents)}
          </span>
        </button>
      </h2>
      {isOpen && <ul className={styles.grid}>{group.agents.slice(0, most).map(draw)}</ul>}
      {isOpen && left > 0 && (
        <p className={styles.note}>{plural(left, "more agent")}; the table shows all.</p>
      )}
    </section>
  );
}

/** What can be done with all that are selected. */
export function Selected({
  list,
  act,
}: {
  list: Pick<Rows<Agent>, "selection" | "clear">;
  act: ReturnType<typeof useAgentActs>["act"];
}) {
  if (list.selection.length === 0) return null;
  return (
    <BulkBar count={list.selection.length} noun="agent" onClear={list.clear}>
      <AgentVerbs agents={list.selection} act={act} side="above" />
    </BulkBar>
  );
}
