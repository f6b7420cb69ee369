import { useQuery } from "@tanstack/react-query";
import { useAction } from "../../actions/actions";
import { BACK } from "../../actions/common";
import type { TaskDetail } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Cli } from "../../ui/Cli";
import { SidePanel } from "../../ui/Drawer";
import { Facts } from "../../ui/Facts";
import { duration } from "../../ui/format";
import { Loaded } from "../../ui/Loaded";
import panel from "../../ui/Panel.module.css";
import { SkeletonRows } from "../../ui/Skeleton";
import { Time } from "../../ui/Time";
import { useNow } from "../../ui/useNow";
import { JsonText } from "../events/JsonText";
import styles from "./Attempts.module.css";
import { CANCEL_WHY, TASK } from "./actions";
import { AssignMenu } from "./assign/AssignMenu";
import { queueQueries } from "./queries";
import { StateBadge } from "./StateBadge";
import { attemptsOf, tookSeconds } from "./states";
import { cancelCli, cliOf } from "./taskCli";
import { useTaskActs, useWhyNot } from "./useTaskActs";

/** One task: how it stands, and every attempt. */
export function TaskPeek({ id, onClose }: { id: string; onClose: () => void }) {
  useAction(BACK, onClose, { title: "Close the panel" });
  const query = useQuery(queueQueries.task(id));
  return (
    <SidePanel label="One task" head={query.data?.title ?? "Task"} onClose={onClose}>
      <Loaded query={query} what="The task" skeleton={<SkeletonRows rows={6} />}>
        {(task) => <Details task={task} />}
      </Loaded>
    </SidePanel>
  );
}

/** How it stands, and what can be done about it. */
function TaskVerbs({ task }: { task: TaskDetail }) {
  const { act, cancelWhy } = useTaskActs();
  const refusedOf = useWhyNot();
  return (
    <div className={panel.line}>
      <StateBadge state={task.state} />
      {(["retry", "cancel"] as const).map((verb) => (
        <Guarded
          key={verb}
          size="small"
          look={verb === "cancel" ? "bad" : "line"}
          can={TASK[verb].can}
          destructive={TASK[verb].destructive}
          refused={refusedOf(verb, task)}
          cli={cliOf(verb, [task])}
          onClick={() => act(verb, [task])}
        >
          {TASK[verb].title}
        </Guarded>
      ))}
      <Guarded
        size="small"
        look="bad"
        can={CANCEL_WHY.can}
        destructive
        refused={refusedOf("cancel", task)}
        cli={cancelCli([task], "")}
        onClick={() => cancelWhy([task])}
      >
        {CANCEL_WHY.title}
      </Guarded>
      <AssignMenu tasks={[task]} />
    </div>
  );
}

function Details({ task }: { task: TaskDetail }) {
  const now = useNow(10_000);
  return (
    <div className={panel.stack}>
      <TaskVerbs task={task} />
      {task.error && <p className={panel.bad}>{task.error}</p>}
      <Facts
        facts={[
          ["Pool", task.pool],
          ["Priority", task.priority],
          ["Attempts", attemptsOf(task)],
          ["Needs", task.requires.join(", ") || "nothing special"],
          ["Id", { id: task.id }],
        ]}
      />
      <section aria-label="Attempts">
        <h3 className={panel.head}>Attempts</h3>
        {task.attempts.length === 0 && <p className={panel.soft}>Nobody has taken it yet.</p>}
        <ol className={styles.attempts}>
          {task.attempts.map((attempt) => (
            <li key={attempt.number}>
              <span className="tabular">{attempt.number}</span>
              <StateBadge state={attempt.ending ?? "running"} />
              <Time at={attempt.startedAt} />
              <span className="tabular">
                {duration(tookSeconds(attempt.startedAt, attempt.endedAt, now) ?? 0)}
              </span>
              {attempt.error && <p className={panel.bad}>{attempt.error}</p>}
            </li>
          ))}
        </ol>
      </section>
      <section aria-label="What the worker gets">
        <h3 className={panel.head}>What the worker gets</h3>
        <JsonText value={task.payload} />
      </section>
      {task.result && (
        <section aria-label="What came of it">
          <h3 className={panel.head}>What came of it</h3>
          <JsonText value={task.result} />
        </section>
      )}
      <Cli command={`godel task show ${task.id.slice(-8)}`} />
    </div>
  );
}
