import { useQuery } from "@tanstack/react-query";
import { useAction } from "../../actions/actions";
import { BACK } from "../../actions/common";
import type { Run, RunStep } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Link } from "../../router/Link";
import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { SidePanel } from "../../ui/Drawer";
import { duration } from "../../ui/format";
import { Loaded } from "../../ui/Loaded";
import { ProgressRing } from "../../ui/Meter";
import panel from "../../ui/Panel.module.css";
import { SkeletonRows } from "../../ui/Skeleton";
import { Badge } from "../../ui/Status";
import { useNow } from "../../ui/useNow";
import { peekAt } from "./peek";
import { queueQueries, type RunVerb, useRunVerb } from "./queries";
import styles from "./RunPeek.module.css";
import { StateBadge } from "./StateBadge";
import { tookSeconds } from "./states";
import { useForeignRun } from "./useForeignRun";

/** One run: how far it is, and its steps in the order of the workflow. */
export function RunPeek({ id, onClose }: { id: string; onClose: () => void }) {
  useAction(BACK, onClose, { title: "Close the panel" });
  const run = useQuery(queueQueries.run(id));
  const steps = useQuery(queueQueries.steps(id));
  return (
    <SidePanel label="One run" head={run.data?.name ?? "Run"} onClose={onClose}>
      <div className={panel.stack}>
        <Loaded query={run} what="The run" skeleton={<SkeletonRows rows={2} />}>
          {(data) => <Head run={data} />}
        </Loaded>
        <Link to={`/queue/runs/${id}`}>Open the graph of the run</Link>
        <Loaded query={steps} what="The steps" skeleton={<SkeletonRows rows={4} />}>
          {(data) => <Steps steps={data} critical={run.data?.criticalPath ?? []} />}
        </Loaded>
        <Cli command={`godel workflow status ${id.slice(-8)}`} />
      </div>
    </SidePanel>
  );
}

function Head({ run }: { run: Run }) {
  const verbs: Record<RunVerb, ReturnType<typeof useRunVerb>> = {
    pause: useRunVerb("pause"),
    resume: useRunVerb("resume"),
    cancel: useRunVerb("cancel"),
    retry: useRunVerb("retry"),
  };
  const foreign = useForeignRun()(run);
  return (
    <div className={panel.line}>
      <StateBadge state={run.state} />
      <ProgressRing percent={run.progress * 100} />
      {verbsOf(run.state).map((verb) => (
        <Guarded
          key={verb}
          size="small"
          look={verb === "cancel" ? "bad" : "line"}
          can="workflow:execute:own"
          destructive={verb === "cancel"}
          refused={foreign}
          cli={`godel workflow ${verb} ${run.id.slice(-8)}`}
          onClick={() => verbs[verb].mutate(run)}
        >
          {`${verb[0]?.toUpperCase()}${verb.slice(1)}`}
        </Guarded>
      ))}
    </div>
  );
}

function Steps({ steps, critical }: { steps: readonly RunStep[]; critical: readonly string[] }) {
  const now = useNow(10_000);
  return (
    <section aria-label="Steps">
      <h3 className={panel.head}>Steps</h3>
      <ol className={styles.steps}>
        {steps.map((step) => {
          const took = tookSeconds(step.startedAt, step.finishedAt, now);
          return (
            <li key={step.id} data-step={step.id}>
              <div className={styles.step}>
                <strong>{step.id}</strong>
                {step.kind !== "task" && <Badge>{step.kind}</Badge>}
                {step.round > 0 && (
                  <Badge title="How often it was begun anew">again {step.round}</Badge>
                )}
                {critical.includes(step.id) && (
                  <Badge tone="info" title="It is on the longest way that is still ahead">
                    critical
                  </Badge>
                )}
                <span className={styles.state}>
                  <StateBadge state={step.state} />
                </span>
              </div>
              <div className={styles.note}>
                {step.dependsOn.length > 0 && <span>after {step.dependsOn.join(", ")}</span>}
                {took !== undefined && <span className="tabular">{duration(took)}</span>}
                <TaskButton step={step} />
              </div>
              {step.error && <p className={styles.bad}>{step.error}</p>}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/** Leads to the task of a step, if it has one yet; the run stays open below. */
function TaskButton({ step: { id, taskId } }: { step: RunStep }) {
  if (!taskId) return null;
  return (
    <Button look="quiet" size="small" onClick={() => peekAt("task", taskId, { over: "run" })}>
      Show the task of {id}
    </Button>
  );
}

/** What makes sense for a run in this state. */
export function verbsOf(state: string): RunVerb[] {
  if (state === "pending" || state === "running") return ["pause", "cancel"];
  if (state === "paused") return ["resume", "cancel"];
  return state === "completed" ? [] : ["retry"];
}
