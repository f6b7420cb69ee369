import { useQuery } from "@tanstack/react-query";
import { useAction } from "../../../actions/actions";
import { BACK } from "../../../actions/common";
import type { WorkerDetail } from "../../../api/types";
import { Guarded } from "../../../roles/Guarded";
import { Button } from "../../../ui/Button";
import { Cli } from "../../../ui/Cli";
import { SidePanel } from "../../../ui/Drawer";
import { Facts } from "../../../ui/Facts";
import { shellWord, shortId } from "../../../ui/format";
import { Loaded } from "../../../ui/Loaded";
import panel from "../../../ui/Panel.module.css";
import { SkeletonRows } from "../../../ui/Skeleton";
import { Time } from "../../../ui/Time";
import styles from "../Attempts.module.css";
import { WORKER } from "../actions";
import { peekAt } from "../peek";
import { StateBadge } from "../StateBadge";
import { workerQueries } from "./queries";
import { useWorkerActs, type WorkerVerb, whyNot, workerCli } from "./useWorkerActs";

/** One worker, and what it has in its hands. */
export function WorkerPeek({ id, onClose }: { id: string; onClose: () => void }) {
  useAction(BACK, onClose, { title: "Close the panel" });
  const query = useQuery(workerQueries.one(id));
  return (
    <SidePanel label="One worker" head={query.data?.name ?? "Worker"} onClose={onClose}>
      <Loaded query={query} what="The worker" skeleton={<SkeletonRows rows={6} />}>
        {(worker) => <Details worker={worker} />}
      </Loaded>
    </SidePanel>
  );
}

function Details({ worker }: { worker: WorkerDetail }) {
  const { act } = useWorkerActs();
  const verbs: WorkerVerb[] = [worker.status === "paused" ? "resume" : "pause", "remove"];
  return (
    <div className={panel.stack}>
      <div className={panel.line}>
        <StateBadge state={worker.status} />
        {verbs.map((verb) => (
          <Guarded
            key={verb}
            size="small"
            look={verb === "remove" ? "bad" : "line"}
            can={WORKER[verb].can}
            destructive={WORKER[verb].destructive}
            refused={whyNot(verb, worker)}
            cli={workerCli(verb, worker)}
            onClick={() => act(verb, worker)}
          >
            {WORKER[verb].title}
          </Guarded>
        ))}
      </div>
      {worker.error && <p className={panel.bad}>{worker.error}</p>}
      <Facts
        facts={[
          ["Pool", worker.pool],
          ["Can do", worker.capabilities.join(", ") || "nothing special"],
          ["Room", `${worker.load} of ${worker.capacity}`],
          ["Came", { at: worker.registeredAt }],
          ["Id", { id: worker.id }],
        ]}
      />
      <section aria-label="What it has">
        <h3 className={panel.head}>What it has</h3>
        {worker.tasks.length === 0 && <p className={panel.soft}>Nothing at the moment.</p>}
        <ul className={styles.attempts}>
          {worker.tasks.map(({ taskId, attempt, startedAt, stop }) => (
            <li key={taskId}>
              <span className="tabular">{attempt}</span>
              <span>
                <Button look="quiet" size="small" onClick={() => peekAt("task", taskId)}>
                  Task {shortId(taskId)}
                </Button>
              </span>
              <Time at={startedAt} />
              {stop && <p className={panel.bad}>It is being stopped: {stop}</p>}
            </li>
          ))}
        </ul>
      </section>
      <Cli command={`godel worker show ${shellWord(worker.name)}`} />
    </div>
  );
}
