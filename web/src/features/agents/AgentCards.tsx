import { useRef } from "react";
import { useAction } from "../../actions/actions";
import type { Agent } from "../../api/types";
import { useCalm } from "../../ui/calm";
import { classes } from "../../ui/classes";
import { Menu } from "../../ui/Menu";
import { NewRows } from "../../ui/NewRows";
import { ShortId } from "../../ui/ShortId";
import { Time } from "../../ui/Time";
import { useGridWindow } from "../../ui/table/useGridWindow";
import { useRows } from "../../ui/table/useRows";
import { usePresence } from "../../ui/usePresence";
import styles from "./AgentCards.module.css";
import { AgentSpend, AgentStatus, AgentWalls } from "./AgentStatus";
import { AGENT } from "./actions";
import { cliOf, useAgentActs, whyNot } from "./useAgentActs";

interface AgentCardsProps {
  agents: readonly Agent[];
  peeked: string | undefined;
  onPeek: (agent: Agent) => void;
}

const keyOf = (agent: Agent) => agent.id;
const CARD = { minWidth: 280, height: 168, gap: 12 };

/** Agents as cards. */
export function AgentCards({ agents, peeked, onPeek }: AgentCardsProps) {
  const box = useRef<HTMLDivElement>(null);
  const calm = useCalm(agents, keyOf, usePresence(box));
  const view = useGridWindow(box, calm.rows.length, CARD);
  const list = useRows({ rows: calm.rows, keyOf, onOpen: onPeek, onPeek });
  const { act, menuOf } = useAgentActs();
  const here = calm.rows.find((agent) => agent.id === (list.cursor ?? peeked));
  useAgentKeys(here, act);
  return (
    <div ref={box} className={styles.box}>
      <NewRows waiting={calm.waiting} noun="agent" onShow={calm.show} />
      <div style={{ height: view.total }}>
        <ul
          className={styles.grid}
          aria-label="Agents"
          style={{ transform: `translateY(${view.offset}px)` }}
        >
          {calm.rows.slice(view.first, view.end).map((agent) => (
            <li key={agent.id} className={styles.cell}>
              <article
                className={classes(styles.card, agent.id === peeked && styles.peeked)}
                data-cursor={agent.id === list.cursor || undefined}
                data-agent={agent.label}
              >
                <div className={styles.head}>
                  <button type="button" className={styles.name} onClick={() => onPeek(agent)}>
                    {agent.label}
                  </button>
                  <AgentStatus agent={agent} />
                  <Menu
                    label={`Do something with ${agent.label}`}
                    size="small"
                    items={menuOf(agent)}
                  />
                </div>
                <div className={styles.words}>
                  <p className={styles.task} title={agent.task}>
                    {agent.task}
                  </p>
                  <p className={styles.note}>{agent.note}</p>
                </div>
                <div className={styles.facts}>
                  <AgentWalls agent={agent} />
                  <ShortId id={agent.bead} />
                </div>
                <div className={styles.foot}>
                  <AgentSpend agent={agent} />
                  <span className={styles.when}>
                    {agent.model} · <Time at={agent.updatedAt} />
                  </span>
                </div>
              </article>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

/** The keys of the agent under the cursor. */
export function useAgentKeys(
  here: Agent | undefined,
  act: ReturnType<typeof useAgentActs>["act"],
): void {
  for (const verb of ["pause", "resume", "kill"] as const) {
    // biome-ignore lint/correctness/useHookAtTopLevel: the list never changes
    useAction(AGENT[verb], () => here && act(verb, [here]), {
      title: here && `${AGENT[verb].title} ${here.label}`,
      cli: here && cliOf(verb, [here]),
      disabled: here && whyNot(verb, here),
      when: here !== undefined,
    });
  }
}
