import { useAction } from "../../actions/actions";
import { BACK } from "../../actions/common";
import type { Agent } from "../../api/types";
import { Link } from "../../router/Link";
import { Cli } from "../../ui/Cli";
import { SidePanel } from "../../ui/Drawer";
import { Facts } from "../../ui/Facts";
import { shortTime } from "../../ui/format";
import { Time } from "../../ui/Time";
import { NoticeCard } from "../inbox/NoticeCard";
import { useNoticesOf } from "../inbox/queries";
import styles from "./AgentPeek.module.css";
import { AgentSpend, AgentStatus, AgentWalls } from "./AgentStatus";
import { AgentVerbs } from "./AgentVerbs";
import { useAgentActs } from "./useAgentActs";

/** One agent beside the list: what it does, what happened to it, what can be done. */
export function AgentPeek({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  useAction(BACK, onClose, { title: "Close the panel" });
  const { act } = useAgentActs();
  const notices = useNoticesOf(agent.id);
  return (
    <SidePanel label={`Agent ${agent.label}`} head={agent.label} onClose={onClose}>
      <div className={styles.stack}>
        <div className={styles.line}>
          <AgentStatus agent={agent} />
          <AgentWalls agent={agent} />
        </div>
        <p>{agent.task}</p>
        {agent.note && <p className={styles.soft}>{agent.note}</p>}
        {agent.lastError && <p className={styles.bad}>{agent.lastError}</p>}
        {notices.map((notice) => (
          <NoticeCard key={notice.id} notice={notice} isOwn />
        ))}
        <Link to={`/agents/${encodeURIComponent(agent.id)}`}>
          Open timeline, terminal and changes
        </Link>
        <div className={styles.line}>
          <AgentVerbs agents={[agent]} act={act} />
        </div>
        <Facts
          facts={[
            ["Bead", agent.bead],
            ["Role", agent.role],
            ["Agent", agent.harness],
            ["Model", agent.model],
            ["Started", shortTime(agent.spawnedAt)],
          ]}
        />
        <AgentSpend agent={agent} />
        {agent.todos.length > 0 && <Todos agent={agent} />}
        <section aria-label="What happened">
          <h3 className={styles.head}>What happened</h3>
          <ol className={styles.steps}>
            {agent.history.toReversed().map((step) => (
              <li key={`${step.at} ${step.state}`}>
                <span className={styles.when}>
                  <Time at={step.at} />
                </span>
                <span>{step.why || step.state}</span>
              </li>
            ))}
          </ol>
        </section>
        <Cli command={`godel agent show ${agent.label}`} />
      </div>
    </SidePanel>
  );
}

function Todos({ agent }: { agent: Agent }) {
  return (
    <section aria-label="To do">
      <h3 className={styles.head}>To do</h3>
      <ul className={styles.steps}>
        {agent.todos.map((todo) => (
          <li key={todo.text}>
            <span className={styles.when}>{todo.state.replace("_", " ")}</span>
            <span>{todo.text}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
