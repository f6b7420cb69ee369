import { memo } from "react";
import type { Agent } from "../../api/types";
import { classes } from "../../ui/classes";
import { Menu, type MenuItem } from "../../ui/Menu";
import styles from "./AgentCards.module.css";
import { BeadLink, UpTime, useLastAction } from "./AgentParts";
import { AgentStatus, AgentWalls } from "./AgentStatus";
import { AgentToday, SpendWithToday } from "./context/AgentToday";

interface AgentCardProps {
  agent: Agent;
  isPeeked: boolean;
  isAt: boolean;
  isSelected: boolean;
  onToggle: (id: string) => void;
  onPeek: (agent: Agent) => void;
  menuOf: (agent: Agent) => readonly MenuItem[];
}

/** One agent at a glance: who, what, where, how far, how much. It is drawn again when it changes. */
export const AgentCard = memo(function AgentCard(props: AgentCardProps) {
  const { agent, isPeeked, isAt, isSelected, onToggle, onPeek, menuOf } = props;
  return (
    <article
      className={classes(styles.card, isPeeked && styles.peeked, isSelected && styles.selected)}
      data-cursor={isAt || undefined}
      data-agent={agent.label}
    >
      <div className={styles.head}>
        <input
          type="checkbox"
          className={styles.box}
          aria-label={`Select ${agent.label}`}
          checked={isSelected}
          onChange={() => onToggle(agent.id)}
        />
        <button type="button" className={styles.name} onClick={() => onPeek(agent)}>
          {agent.label}
        </button>
        <AgentStatus agent={agent} />
        <Menu label={`Do something with ${agent.label}`} size="small" items={() => menuOf(agent)} />
      </div>
      <div className={styles.words}>
        <p className={styles.task} title={agent.task}>
          {agent.task}
        </p>
        <LastAction agent={agent} />
      </div>
      <div className={styles.facts}>
        <AgentWalls agent={agent} />
        <BeadLink bead={agent.bead} />
      </div>
      <AgentToday agent={agent} />
      <div className={styles.foot}>
        <SpendWithToday agent={agent} />
        <Since agent={agent} />
      </div>
    </article>
  );
});

/** What it does right now; else why it stands still. */
function LastAction({ agent }: { agent: Agent }) {
  const text = useLastAction(agent);
  return (
    <p className={styles.note} title={text}>
      {text}
    </p>
  );
}

function Since({ agent }: { agent: Agent }) {
  return (
    <span className={styles.when}>
      {agent.role} · {agent.model} · <UpTime agent={agent} />
    </span>
  );
}
