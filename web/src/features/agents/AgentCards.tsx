import { useEffect, useMemo, useRef } from "react";
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
  const grouped = useMemo(
    () => teams && drawnOf(byTeam(agents, teams), closed),
    [agents, teams, closed],
  );
  // Keys go from card to card as they are drawn, and to none that is not.
  const rows = grouped?.rows ?? agents;
  const lines = { box, rows, keyOf, onOpen, onPeek, canSelect: true, peeked };
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
        {teams && grouped ? (
          <Teams
            {...grouped}
            cards={new Map(byTeam(calm.rows, teams).map(({ id, agents: own }) => [id, own]))}
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

/** Teams with how many cards each draws, and the agents of these cards in the order in which they are drawn. */
interface Grouped {
  groups: readonly Group[];
  shares: ReadonlyMap<string, number>;
  rows: readonly Agent[];
}

function drawnOf(groups: readonly Group[], closed: readonly string[]): Grouped {
  const shares = sharesOf(groups, closed);
  return {
    groups,
    shares,
    rows: groups.flatMap(({ id, agents }) => agents.slice(0, shares.get(id) ?? 0)),
  };
}

interface TeamsProps extends DrawProps, Omit<Grouped, "rows"> {
  /** The cards of each team, kept still while somebody is there. */
  cards: ReadonlyMap<string, readonly Agent[]>;
  closed: readonly string[];
  onClosed: (closed: readonly string[]) => void;
  cursor: string | undefined;
  box: React.RefObject<HTMLDivElement | null>;
}

/** The agents of all teams; those of folded ones are not drawn, and of many only the first. */
function Teams({ groups, shares, cards, closed, onClosed, cursor, box, draw }: TeamsProps) {
  useEffect(() => {
    if (cursor === undefined) return;
    const card = box.current?.querySelector(`[data-agent="${CSS.escape(cursor)}"]`);
    card?.scrollIntoView({ block: "nearest" });
  }, [cursor, box]);
  return groups.map((group) => (
    <TeamCards
      key={group.id}
      group={group}
      cards={shares.has(group.id) ? (cards.get(group.id) ?? NO_CARDS) : undefined}
      draw={draw}
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

const NO_CARDS: readonly Agent[] = [];

interface TeamCardsProps extends DrawProps {
  group: Group;
  /** Those that are drawn; a team that is folded has none. */
  cards: readonly Agent[] | undefined;
  onToggle: () => void;
}

/** The agents of a team, behind a line that counts them. */
function TeamCards({ group, draw, cards, onToggle }: TeamCardsProps) {
  const left = group.agents.length - (cards?.length ?? 0);
  return (
    <section className={styles.team} aria-label={group.title}>
      <h2>
        <button
          type="button"
          className={styles.fold}
          aria-expanded={cards !== undefined}
          onClick={onToggle}
        >
          <Icon name={cards ? "down" : "chevron"} size={14} />
          {group.title}
          <span className={styles.tally}>
            {plural(group.agents.length, "agent")}: {tallyOf(group.agents)}
          </span>
        </button>
      </h2>
      {cards && <ul className={styles.grid}>{cards.map(draw)}</ul>}
      {cards && left > 0 && (
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
