import { useEffect, useRef } from "react";
import type { Agent } from "../../api/types";
import { plural } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { NewRows } from "../../ui/NewRows";
import { BulkBar } from "../../ui/table/BulkBar";
import { useCalmRows } from "../../ui/table/useCalmRows";
import { useCardInView, useGridWindow } from "../../ui/table/useGridWindow";
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
  const [closed, setClosed] = useStored<readonly string[]>("agents.closed", []);
  // Keys go from card to card as they are drawn, and to none that is folded away.
  const reach = teams && ((all: readonly Agent[]) => drawnOf(byTeam(all, teams), closed));
  const lines = { box, rows: agents, reach, keyOf, onOpen, onPeek, canSelect: true, peeked };
  const { calm, list } = useCalmRows(lines);
  const { act, menuOf } = useAgentActs();
  const peek = useLatest(onPeek);
  const menu = useLatest(menuOf);
  const drawn = reach?.(calm.rows) ?? calm.rows;
  const here =
    list.cursor === undefined
      ? calm.rows.find(({ id }) => id === peeked)
      : drawn.find(({ id }) => id === list.cursor);
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
          <Teams
            groups={byTeam(calm.rows, teams)}
            closed={closed}
            onClosed={setClosed}
            cursor={list.cursor}
            box={box}
            draw={draw}
          />
        ) : (
          <Grid box={box} rows={calm.rows} cursor={list.cursor} draw={draw} />
        )}
      </div>
      <Selected list={list} act={act} />
    </>
  );
}

interface DrawProps {
  draw: (agent: Agent) => React.ReactNode;
}

interface GridProps extends DrawProps {
  box: React.RefObject<HTMLDivElement | null>;
  rows: readonly Agent[];
  /** The agent that keys are about. */
  cursor: string | undefined;
}

/** All cards; only those in sight are drawn. */
function Grid({ box, rows, cursor, draw }: GridProps) {
  const grid = useRef<HTMLDivElement>(null);
  const view = useGridWindow(box, rows.length, CARD);
  const at = rows.findIndex(({ id }) => id === cursor);
  useCardInView(box, grid, { cursor, at, columns: view.columns }, CARD);
  return (
    <div ref={grid} style={{ height: view.total }}>
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

/** The agents whose cards teams draw, in that order. */
function drawnOf(groups: readonly Group[], closed: readonly string[]): Agent[] {
  const shares = sharesOf(groups, closed);
  return groups.flatMap(({ id, agents }) => agents.slice(0, shares.get(id) ?? 0));
}

interface TeamsProps extends DrawProps {
  groups: readonly Group[];
  closed: readonly string[];
  onClosed: (closed: readonly string[]) => void;
  cursor: string | undefined;
  box: React.RefObject<HTMLDivElement | null>;
}

/** The agents of all teams; those of folded ones are not drawn, and of many only the first. */
function Teams({ groups, closed, onClosed, cursor, box, draw }: TeamsProps) {
  const shares = sharesOf(groups, closed);
  useEffect(() => {
    if (cursor === undefined) return;
    const card = box.current?.querySelector(`[data-agent="${CSS.escape(cursor)}"]`);
    card?.scrollIntoView({ block: "nearest" });
  }, [cursor, box]);
  return groups.map((group) => (
    <TeamCards
      key={group.id}
      group={group}
      draw={draw}
      most={shares.get(group.id)}
      onToggle={() =>
        onClosed(
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
