import type { Agent } from "../../api/types";
import { money } from "../../ui/format";
import { Meter } from "../../ui/Meter";
import { Money } from "../../ui/Money";
import { Badge, Status } from "../../ui/Status";
import styles from "./AgentStatus.module.css";
import { LOOKS, viewOf } from "./views";

/** What an agent is doing, as icon and word. */
export function AgentStatus({ agent }: { agent: Agent }) {
  const { title, tone, icon } = LOOKS[viewOf(agent)];
  return (
    <Status tone={tone} icon={icon}>
      {title}
    </Status>
  );
}

/** Where it works and behind which walls; none is a warning. */
export function AgentWalls({ agent }: { agent: Agent }) {
  const isOpen = agent.sandbox === "none";
  return (
    <Badge
      tone={isOpen ? "bad" : "plain"}
      icon={isOpen ? "alert" : "lock"}
      title={isOpen ? "It can do all that the server can do" : `Behind the walls ${agent.sandbox}`}
    >
      {agent.runtime} · {isOpen ? "no walls" : agent.sandbox}
    </Badge>
  );
}

interface AgentSpendProps {
  agent: Agent;
  /** Of which time it is, where others are told as well. */
  word?: string;
  /** What of it was spent today, if that is known. */
  today?: number | undefined;
}

/** What it has spent, of what it may. */
export function AgentSpend({ agent, word, today = 0 }: AgentSpendProps) {
  const { spentMicros, budgetMicros } = agent;
  const hasLimit = typeof budgetMicros === "number" && budgetMicros > 0;
  const ofToday = today > 0 ? `, ${money(today)} of it today` : "";
  return (
    <div className={styles.spend}>
      <span>
        <Money micros={spentMicros} />
        {hasLimit && <span className={styles.of}> of {money(budgetMicros)}</span>}
        {word && typeof spentMicros === "number" && <span className={styles.of}> {word}</span>}
      </span>
      {hasLimit && typeof spentMicros === "number" && (
        <Meter
          label="Budget"
          value={spentMicros}
          max={budgetMicros}
          newest={today}
          text={`${money(spentMicros)} of ${money(budgetMicros)}${ofToday}`}
        />
      )}
    </div>
  );
}
