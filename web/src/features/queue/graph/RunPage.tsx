import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useAction } from "../../../actions/actions";
import { BACK } from "../../../actions/common";
import { ApiError } from "../../../api/client";
import type { Run, RunStep, Task } from "../../../api/types";
import { Link } from "../../../router/Link";
import { navigate, useChoice, useParam } from "../../../router/router";
import { Boundary } from "../../../ui/Boundary";
import { Button } from "../../../ui/Button";
import { Empty } from "../../../ui/Empty";
import { Icon } from "../../../ui/Icon";
import { Loaded } from "../../../ui/Loaded";
import { SkeletonRows } from "../../../ui/Skeleton";
import { Segmented } from "../../../ui/Tabs";
import { useNow } from "../../../ui/useNow";
import { queueQueries } from "../queries";
import { Gantt } from "./Gantt";
import { Graph } from "./Graph";
import { RunHead } from "./RunHead";
import styles from "./RunPage.module.css";
import { StepList } from "./StepList";
import { StepPanel } from "./StepPanel";
import { decisiveWay } from "./story";
import type { Told } from "./told";
import { useNarrow } from "./useNarrow";

const VIEWS = [
  { id: "graph", title: "Graph" },
  { id: "time", title: "Time" },
  { id: "list", title: "List" },
] as const;

/** So often what takes time is told anew while the run goes on. */
const EVERY_MS = 1_000;

/** One run of a workflow: its steps as a graph, on a line of time, or as a list. */
export function RunPage({ id }: { id: string }) {
  const run = useQuery(queueQueries.run(id));
  const steps = useQuery(queueQueries.steps(id));
  const back = () => navigate("/queue?tab=workflows");
  if (run.error instanceof ApiError && run.error.status < 500 && !run.data) {
    return (
      <Empty
        icon="branch"
        why={`There is no run ${id}.`}
        action={<Button onClick={back}>Show all runs</Button>}
        cli="godel workflow runs"
      />
    );
  }
  return (
    <div className={styles.page}>
      <nav className={styles.crumbs} aria-label="Way back">
        <Link to="/queue?tab=workflows">
          <Icon name="queue" size={14} />
          Runs
        </Link>
      </nav>
      <Loaded query={run} what="The run" skeleton={<SkeletonRows rows={2} />}>
        {(known) => (
          <>
            <RunHead run={known} />
            <Loaded query={steps} what="The steps" skeleton={<SkeletonRows />}>
              {(all) => <Steps run={known} steps={all} onBack={back} />}
            </Loaded>
          </>
        )}
      </Loaded>
    </div>
  );
}

interface StepsProps {
  run: Run;
  steps: readonly RunStep[];
  onBack: () => void;
}

function Steps({ run, steps, onBack }: StepsProps) {
  const [view, setView] = useChoice(
    "view",
    VIEWS.map((one) => one.id),
    useNarrow() ? "list" : "graph",
  );
  const [chosen, choose] = useParam("step");
  const step = steps.find((one) => one.id === chosen);
  useAction(BACK, step ? () => choose(undefined) : onBack, {
    title: step ? "Close the panel" : "Back to the runs",
  });
  const isOver = Boolean(run.finishedAt);
  const now = useNow(EVERY_MS, !isOver);
  const way = useMemo(() => decisiveWay(steps, run.criticalPath), [steps, run.criticalPath]);
  const attempts = useAttempts(run.id, steps);
  const told: Told = { run, steps, way, attempts, now, chosen, onChoose: choose };
  return (
    <>
      <div className={styles.tools}>
        <Segmented label="How to show the steps" options={VIEWS} value={view} onChange={setView} />
        {view !== "list" && (
          <button type="button" className={styles.skip} onClick={() => setView("list")}>
            Show the steps as a list
          </button>
        )}
        {way.length > 0 && (
          <span className={styles.note}>
            Critical path: <bdi>{way.join(" → ")}</bdi>
          </span>
        )}
      </div>
      <div className={styles.body}>
        <Boundary key={view} what="This view">
          {view === "graph" && <Graph {...told} />}
          {view === "time" && <Gantt {...told} />}
          {view === "list" && <StepList {...told} />}
        </Boundary>
        {step && (
          <Boundary key={step.id} what="The step">
            <StepPanel
              run={run}
              step={step}
              steps={steps}
              isDecisive={way.includes(step.id)}
              now={now}
              onClose={() => choose(undefined)}
            />
          </Boundary>
        )}
      </div>
    </>
  );
}

/** The attempts of each step; the newest tasks of the run tell them. */
function useAttempts(run: string, steps: readonly RunStep[]): ReadonlyMap<string, number> {
  const hasTasks = steps.some(({ taskId }) => taskId);
  const tasks = useQuery({ ...queueQueries.tasks({ run }), enabled: hasTasks });
  const items: readonly Task[] | undefined = tasks.data?.items;
  return useMemo(() => {
    const known = new Map(items?.map(({ id, attempt }) => [id, attempt]));
    return new Map(steps.map(({ id, taskId }) => [id, known.get(taskId ?? "") ?? 0] as const));
  }, [steps, items]);
}
