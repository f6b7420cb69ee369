import type { Agent } from "../../../api/types";
import { PAGES } from "../../../pages";
import { Link } from "../../../router/Link";
import { Cli } from "../../../ui/Cli";
import { Facts } from "../../../ui/Facts";
import { shortTime } from "../../../ui/format";
import { Time } from "../../../ui/Time";
import { AgentSpend } from "../AgentStatus";
import { upTime } from "../views";
import styles from "./AboutAgent.module.css";

/** What stays the same, or changes slowly: task, place, budget, list of things to do. */
export function AboutAgent({ agent }: { agent: Agent }) {
  return (
    <aside className={styles.side} aria-label={`Agent ${agent.label}`}>
      <p className={styles.task}>{agent.task}</p>
      {agent.note && <p className={styles.soft}>{agent.note}</p>}
      {agent.lastError && agent.lastError !== agent.note && (
        <p className={styles.bad}>{agent.lastError}</p>
      )}
      <AgentSpend agent={agent} />
      <Facts
        facts={[
          ["Bead", agent.bead],
          ["Role", agent.role],
          ["Agent", agent.harness],
          ["Model", agent.model],
          ["Runtime", `${agent.runtime}, ${agent.sandbox}`],
          ["Started", shortTime(agent.spawnedAt)],
          ["Up", upTime(agent, Date.now())],
          ["Runs", String(agent.runs)],
        ]}
      />
      <BeadLinks agent={agent} />
      {agent.todos.length > 0 && <Todos agent={agent} />}
      <section aria-label="What happened">
        <h2 className={styles.head}>What happened</h2>
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
    </aside>
  );
}

function BeadLinks({ agent }: { agent: Agent }) {
  const has = (id: string) => PAGES.some((page) => page.id === id);
  const bead = encodeURIComponent(agent.bead);
  if (!has("beads") && !has("review")) return null;
  return (
    <p className={styles.links}>
      {has("beads") && <Link to={`/beads/${bead}`}>Open the bead</Link>}
      {has("review") && <Link to={`/review/${bead}`}>Open the review</Link>}
    </p>
  );
}

function Todos({ agent }: { agent: Agent }) {
  return (
    <section aria-label="To do">
      <h2 className={styles.head}>To do</h2>
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
