import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import { useAction } from "../../actions/actions";
import { FILTER } from "../../actions/common";
import type { Task } from "../../api/types";
import { confirm } from "../../change/confirm";
import type { PageProps } from "../../pages";
import { Guarded } from "../../roles/Guarded";
import { setParams, useParam } from "../../router/router";
import { Boundary } from "../../ui/Boundary";
import { Empty, EmptyFilter } from "../../ui/Empty";
import { plural } from "../../ui/format";
import { Loaded } from "../../ui/Loaded";
import { FilterBox, PageHead, Select } from "../../ui/PageHead";
import { SkeletonRows } from "../../ui/Skeleton";
import { PartialBadge } from "../../ui/Status";
import { Tabs } from "../../ui/Tabs";
import { Depth } from "./Depth";
import { RunPage } from "./graph/RunPage";
import styles from "./QueuePage.module.css";
import { queueQueries, useReplayAll } from "./queries";
import { RunList } from "./RunList";
import { RunPeek } from "./RunPeek";
import { ScheduleList } from "./ScheduleList";
import { TASK_STATES } from "./states";
import { TaskPeek } from "./TaskPeek";
import { TaskTable } from "./TaskTable";
import { WorkflowPeek } from "./workflows/WorkflowPeek";

/** Work that must not be lost, or one run below `runs/`. */
export function Page({ rest: [kind, id] }: PageProps) {
  return kind === "runs" && id ? <RunPage key={id} id={id} /> : <Queue />;
}

/** Tasks, dead letters, schedules and runs of workflows. */
function Queue() {
  const depth = useQuery(queueQueries.depth);
  const [task, setTask] = useParam("task");
  const [run, setRun] = useParam("run");
  const [workflow, setWorkflow] = useParam("workflow");
  const dead = depth.data?.dead ?? 0;
  const tabs = [
    { id: "tasks", title: "Tasks" },
    { id: "dead", title: "Dead letters", ...(dead > 0 && { count: dead }) },
    { id: "schedules", title: "Schedules" },
    { id: "workflows", title: "Workflows" },
  ] as const;
  return (
    <>
      <PageHead title="Queue" note={<Depth query={depth} />} />
      <div className={styles.body}>
        <div className={styles.main}>
          <Tabs label="The queue" tabs={tabs}>
            {(tab) => (
              <Boundary key={tab} what="This list">
                {tab === "tasks" && <Tasks />}
                {tab === "dead" && <Dead />}
                {tab === "schedules" && <ScheduleList />}
                {tab === "workflows" && <RunList />}
              </Boundary>
            )}
          </Tabs>
        </div>
        {task !== undefined && (
          <Boundary key={task} what="The task">
            <TaskPeek id={task} onClose={() => setTask(undefined)} />
          </Boundary>
        )}
        {task === undefined && run !== undefined && (
          <Boundary key={run} what="The run">
            <RunPeek id={run} onClose={() => setRun(undefined)} />
          </Boundary>
        )}
        {task === undefined && run === undefined && workflow !== undefined && (
          <Boundary key={workflow} what="The workflow">
            <WorkflowPeek name={workflow} onClose={() => setWorkflow(undefined)} />
          </Boundary>
        )}
      </div>
    </>
  );
}

function Tasks() {
  const input = useRef<HTMLInputElement>(null);
  const [text = "", setText] = useParam("q");
  const [state = "", setState] = useParam("state");
  const [pool = "", setPool] = useParam("pool");
  useAction(FILTER, () => input.current?.focus(), { title: "Filter the tasks" });
  const pools = useQuery(queueQueries.pools);
  const query = useQuery(queueQueries.tasks({ state, pool }));
  const tasks = useMemo(() => matching(query.data?.items ?? [], text), [query.data, text]);
  const isSet = [text, state, pool].some((one) => one !== "");
  return (
    <>
      <div className={styles.tools}>
        <FilterBox
          ref={input}
          label="Filter the tasks"
          placeholder="Filter"
          value={text}
          onChange={setText}
        />
        <Select
          label="State"
          value={state}
          options={[["", "Any state"], ...TASK_STATES.map((one) => [one, one] as const)]}
          onChange={setState}
        />
        <Select
          label="Pool"
          value={pool}
          options={[
            ["", "Any pool"],
            ...(pools.data?.items ?? []).map(({ name }) => [name, name] as const),
          ]}
          onChange={setPool}
        />
        {query.data && <span className={styles.note}>{plural(tasks.length, "task")}</span>}
        {query.data?.isCut && (
          <PartialBadge kind="limited" why={`Only the newest ${query.data.items.length}`} />
        )}
      </div>
      <Loaded query={query} what="The tasks" skeleton={<SkeletonRows />}>
        {() => {
          if (tasks.length > 0) {
            return (
              <TaskTable
                key={`${state} ${pool}`}
                label="Tasks"
                tasks={tasks}
                verbs={["retry", "cancel"]}
              />
            );
          }
          if (isSet) return <EmptyFilter what="tasks" onClear={clearFilter} />;
          return (
            <Empty
              icon="queue"
              why="The queue is empty. A task waits on disk until a worker takes it."
              cli="godel task create 'build web' --pool ci"
            />
          );
        }}
      </Loaded>
    </>
  );
}

function Dead() {
  const query = useQuery(queueQueries.dead);
  const replay = useReplayAll();
  const [acted, setActed] = useState<readonly string[]>([]);
  const many = query.data?.items.length ?? 0;
  const replayAll = async () => {
    const isSure = await confirm({
      title: `Replay ${plural(many, "dead letter")}?`,
      body: "Each goes back into the queue with as many attempts as at first.",
      act: "Replay all",
      cli: "godel dead replay --yes",
    });
    if (isSure) replay.mutate();
  };
  return (
    <Loaded query={query} what="The dead letters" skeleton={<SkeletonRows />}>
      {({ items, isCut }) =>
        items.length === 0 ? (
          <Empty
            icon="check"
            why="There are no dead letters: everything that was tried came to an end."
            cli="godel dead list"
          />
        ) : (
          <>
            <div className={styles.tools}>
              <span className={styles.note}>
                Tried as often as allowed, or too late. They are kept until they are retried.
              </span>
              {isCut && <PartialBadge kind="limited" why={`Only the newest ${items.length}`} />}
              <Guarded
                size="small"
                can="task:update:team"
                cli="godel dead replay --yes"
                onClick={replayAll}
              >
                Retry all
              </Guarded>
            </div>
            <TaskTable
              // A list keeps still for others; what one has retried oneself goes at once.
              key={acted.filter((id) => !items.some((task) => task.id === id)).length}
              label="Dead letters"
              tasks={items}
              verbs={["retry"]}
              onActed={(ids) => setActed([...acted, ...ids])}
            />
          </>
        )
      }
    </Loaded>
  );
}

function matching(tasks: readonly Task[], text: string): readonly Task[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return tasks;
  return tasks.filter(({ title, id, error }) =>
    `${title} ${id} ${error ?? ""}`.toLowerCase().includes(wanted),
  );
}

function clearFilter(): void {
  setParams({ q: undefined, state: undefined, pool: undefined });
}
