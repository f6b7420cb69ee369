import type { Agent } from "../../../api/types";
import { money } from "../../../ui/format";
import { AgentSpend } from "../AgentStatus";
import styles from "./AgentToday.module.css";
import { ContextGauge } from "./ContextGauge";
import { useCostToday, useLastContext } from "./queries";

/** How much it had in mind last, and what it cost today; what is not known is not there. */
export function AgentToday({ agent }: { agent: Agent }) {
  const context = useLastContext(agent);
  const today = useCostToday(agent);
  return (
    <div className={styles.line}>
      {context !== undefined && <ContextGauge agent={agent} context={context} />}
      {today !== undefined && (
        <span data-today={today} title="Since midnight in UTC">
          {money(today)} today
        </span>
      )}
    </div>
  );
}

/** What it spent of its budget; what of that is of today is told apart. */
export function SpendWithToday({ agent }: { agent: Agent }) {
  return <AgentSpend agent={agent} word="in all" today={useCostToday(agent)} />;
}
