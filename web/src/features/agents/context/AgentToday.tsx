import type { Agent } from "../../../api/types";
import { count, money } from "../../../ui/format";
import styles from "./AgentToday.module.css";
import { useCostToday, useLastTokens } from "./queries";
import { contextOf, shortCount } from "./usage";

/** How much it had in mind last, and what it cost today; what is not known is not there. */
export function AgentToday({ agent }: { agent: Agent }) {
  const tokens = useLastTokens(agent);
  const today = useCostToday(agent);
  return (
    <div className={styles.line}>
      {tokens && (
        <span
          data-context={contextOf(tokens)}
          title={`Its last request had ${count(contextOf(tokens))} tokens of context`}
        >
          Context {shortCount(contextOf(tokens))} tokens
        </span>
      )}
      {today !== undefined && (
        <span data-today={today} title="Since midnight in UTC">
          {money(today)} today
        </span>
      )}
    </div>
  );
}
