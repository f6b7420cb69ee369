import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { useAction } from "../../actions/actions";
import { CREATE, FILTER } from "../../actions/common";
import type { Task } from "../../api/types";
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
import { NEW_BATCH, NEW_SCHEDULE } from "./actions";
import { BatchDrawer } from "./batch/BatchDrawer";
import { NewSchedule } from "./create/NewSchedule";
import { NewTask } from "./create/NewTask";
import { Depth } from "./Depth";
import { DeadLetters } from "./dead/DeadLetters";
import { RunPage } from "./graph/RunPage";
import { usePeek } from "./peek";
import styles from "./QueuePage.module.css";
import { queueQueries } from "./queries";
import { ReasonHost } from "./ReasonDialog";
import { RunList } from "./RunList";
import { RunPeek } from "./RunPeek";
import { ScheduleList } from "./ScheduleList";
import { TASK_STATES } from "./states";
import { TaskPeek } from "./TaskPeek";
import { TaskTable } from "./TaskTable";
import { WorkerList } from "./workers/WorkerList";
import { WorkerPeek } from "./workers/WorkerPeek";
import { WorkflowPeek } from "./workflows/WorkflowPeek";

/** Work that must not be lost, or one run below `runs/`. */
export function Page({ rest: [kind, id] }: PageProps) {
  return kind === "runs" && id ? <RunPage key={id} id={id} /> : <Queue />;
}

/** Tasks, dead letters, schedules, workers and runs of workflows. */
function Queue() {
  const depth = useQuery(queueQueries.depth);
  const dead = depth.data?.dead ?? 0;
  const tabs = [
    { id: "tasks", title: "Tasks" },
    { id: "dead", title: "Dead letters", ...(dead > 0 && { count: dead }) },
    { id: "schedules", title: "Schedules" },
    { id: "workers", title: "Workers" },
    { id: "workflows", title: "Workflows" },
  ] as const;
  return (
    <>
      <PageHead title="Queue" note={<Depth query={depth} />} acts={<Creation />} />
      <div className={styles.body}>
        <div className={styles.main}>
          <Tabs label="The queue" tabs={tabs}>
            {(tab) => (
              <Boundary key={tab} what="This list">
                {tab === "tasks" && <Tasks />}
                {tab === "dead" && <DeadLetters />}
                {tab === "schedules" && <ScheduleList />}
                {tab === "workers" && <WorkerList />}
                {tab === "workflows" && <RunList />}
              </Boundary>
            )}
          </Tabs>
        </div>
        <Peek />
        <ReasonHost />
      </div>
    </>
  );
}

/** What is looked at beside the list. */
function Peek() {
  const peek = usePeek();
  if (!peek) return null;
  const { kind, id, close } = peek;
  return (
    <Boundary key={`${kind} ${id}`} what={`The ${kind}`}>
      {kind === "task" && <TaskPeek id={id} onClose={close} />}
      {kind === "worker" && <WorkerPeek id={id} onClose={close} />}
      {kind === "run" && <RunPeek id={id} onClose={close} />}
      {kind === "workflow" && <WorkflowPeek name={id} onClose={close} />}
    </Boundary>
  );
}

/** Makes a task, or what makes tasks by the clock; the address says which form is open. */
function Creation() {
  const [form, setForm] = useParam("new");
  const close = () => setForm(undefined);
  useAction(CREATE, () => setForm("task"), { title: "New task", cli: "godel task create" });
  useAction(NEW_SCHEDULE, () => setForm("schedule"), { cli: "godel schedule create" });
  useAction(NEW_BATCH, () => setForm("batch"), { cli: "godel task batch" });
  return (
    <>
      <Guarded can={NEW_BATCH.can} cli="godel task batch FILE" onClick={() => setForm("batch")}>
        {NEW_BATCH.title}
      </Guarded>
      <Guarded
        can="task:create:team"
        cli="godel schedule create"
        onClick={() => setForm("schedule")}
      >
        New schedule
      </Guarded>
      <Guarded
        look="solid"
        align="end"
        can="task:create:own"
        cli="godel task create"
        onClick={() => setForm("task")}
      >
        New task
      </Guarded>
      {form === "task" && <NewTask onClose={close} />}
      {form === "schedule" && <NewSchedule onClose={close} />}
      {form === "batch" && <BatchDrawer onClose={close} />}
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
          return <NoTasks />;
        }}
      </Loaded>
    </>
  );
}

function NoTasks() {
  return (
    <Empty
      icon="queue"
      why="The queue is empty. A task waits on disk until a worker takes it."
      action={
        <Guarded can="task:create:own" onClick={() => setParams({ new: "task" })}>
          New task
        </Guarded>
      }
      cli="godel task create 'build web' --pool ci"
    />
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
