import type { ReactNode } from "react";
import type { Agent } from "../../api/types";
import { Cli } from "../../ui/Cli";
import { Time } from "../../ui/Time";
import styles from "./AgentStory.module.css";

/** What an agent has yet to do, what happened to it, and how the command line tells it. */
export function AgentStory({ agent }: { agent: Agent }) {
  return (
    <>
      {agent.todos.length > 0 && (
        <Steps title="To do">
          {agent.todos.map((todo) => (
            <Step key={todo.text} mark={todo.state.replace("_", " ")} text={todo.text} />
          ))}
        </Steps>
      )}
      <Steps title="What happened">
        {agent.history.toReversed().map(({ at, state, why }) => (
          <Step key={`${at} ${state}`} mark={<Time at={at} />} text={why || state} />
        ))}
      </Steps>
      <Cli command={`godel agent show ${agent.label}`} />
    </>
  );
}

function Steps({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h2 className={styles.head}>{title}</h2>
      <ol className={styles.steps}>{children}</ol>
    </section>
  );
}

function Step({ mark, text }: { mark: ReactNode; text: string }) {
  return (
    <li>
      <span className={styles.mark}>{mark}</span>
      <span>{text}</span>
    </li>
  );
}
