import { type ReactNode, useState } from "react";
import { useAction } from "../../actions/actions";
import type { Task } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { useRefusal } from "../../roles/session";
import { useParam } from "../../router/router";
import { Menu, type MenuItem } from "../../ui/Menu";
import { ShortId } from "../../ui/ShortId";
import { Time } from "../../ui/Time";
import { BulkBar } from "../../ui/table/BulkBar";
import { type Column, DataTable } from "../../ui/table/DataTable";
import { CANCEL_WHY, TASK } from "./actions";
import { AssignMenu } from "./assign/AssignMenu";
import { peekAt } from "./peek";
import { StateBadge } from "./StateBadge";
import { attemptsOf, TASK_STATES } from "./states";
import styles from "./TaskTable.module.css";
import { cancelCli, cliOf } from "./taskCli";
import { type TaskVerb, useTaskActs, useWhyNot } from "./useTaskActs";

const COLUMNS: readonly Column<Task>[] = [
  {
    id: "title",
    title: "Task",
    width: "minmax(160px, 2fr)",
    sortBy: ({ title }) => title,
    cell: ({ title }) => <strong className={styles.title}>{title}</strong>,
  },
  {
    id: "state",
    title: "State",
    width: "120px",
    sortBy: ({ state }) => TASK_STATES.indexOf(state as (typeof TASK_STATES)[number]),
    cell: ({ state }) => <StateBadge state={state} />,
  },
  {
    id: "attempts",
    title: "Attempts",
    width: "84px",
    isNumber: true,
    sortBy: ({ attempt }) => attempt,
    cell: (task) => attemptsOf(task),
  },
  {
    id: "why",
    title: "Why",
    width: "minmax(120px, 2fr)",
    cell: (task) => <Why task={task} />,
  },
  {
    id: "pool",
    title: "Pool",
    width: "100px",
    sortBy: ({ pool }) => pool,
    cell: ({ pool }) => pool,
  },
  {
    id: "priority",
    title: "Priority",
    width: "88px",
    sortBy: ({ priority }) => ["critical", "high", "medium", "low"].indexOf(priority),
    cell: ({ priority }) => priority,
  },
  {
    id: "created",
    title: "Made",
    width: "84px",
    sortBy: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
  { id: "id", title: "Id", width: "92px", cell: ({ id }) => <ShortId id={id} /> },
];

interface TaskTableProps {
  label: string;
  tasks: readonly Task[];
  /** What the bar for many offers. */
  verbs: readonly TaskVerb[];
  /** Told what somebody here did something with. */
  onActed?: (ids: readonly string[]) => void;
  /** What else there is to do where these tasks are listed. */
  more?: {
    itemsOf: (task: Task) => readonly MenuItem[];
    bulk: (tasks: readonly Task[]) => ReactNode;
  };
}

/** Tasks as rows, with their keys and a bar for many. */
export function TaskTable({ label, tasks, verbs, onActed, more }: TaskTableProps) {
  const { act, cancelWhy, whyNone, menuOf } = useTaskActs(onActed);
  const [peeked] = useParam("task");
  const [cursor, setCursor] = useState<string>();
  useTaskKeys(
    tasks.find(({ id }) => id === (cursor ?? peeked)),
    act,
    cancelWhy,
  );
  return (
    <DataTable
      label={label}
      noun="task"
      columns={[
        ...COLUMNS,
        {
          id: "acts",
          title: "",
          width: "44px",
          cell: (task) => (
            <Menu
              label={`Do something with ${task.title}`}
              size="small"
              items={() => [...menuOf(task), ...(more?.itemsOf(task) ?? [])]}
            />
          ),
        },
      ]}
      rows={tasks}
      keyOf={({ id }) => id}
      onOpen={({ id }) => peekAt("task", id)}
      onPeek={({ id }) => peekAt("task", id)}
      peeked={peeked}
      onCursor={setCursor}
      bulk={(selection, clear) => (
        <BulkBar count={selection.length} noun="task" onClear={clear}>
          {verbs.map((verb) => (
            <Guarded
              key={verb}
              size="small"
              look={verb === "cancel" ? "bad" : "line"}
              can={TASK[verb].can}
              destructive={TASK[verb].destructive}
              refused={whyNone(verb, selection)}
              cli={cliOf(verb, selection)}
              onClick={() => act(verb, selection)}
            >
              {TASK[verb].title}
            </Guarded>
          ))}
          {verbs.includes("cancel") && <AssignMenu tasks={selection} />}
          {verbs.includes("cancel") && (
            <Guarded
              size="small"
              look="bad"
              can={CANCEL_WHY.can}
              destructive
              refused={whyNone("cancel", selection)}
              cli={cancelCli(selection, "")}
              onClick={() => cancelWhy(selection)}
            >
              {CANCEL_WHY.title}
            </Guarded>
          )}
          {more?.bulk(selection)}
        </BulkBar>
      )}
    />
  );
}

function useTaskKeys(
  task: Task | undefined,
  act: (verb: TaskVerb, tasks: readonly Task[]) => void,
  cancelWhy: (tasks: readonly Task[]) => void,
): void {
  const denied = useRefusal("task:update:own");
  const refusedOf = useWhyNot();
  const options = (verb: TaskVerb) => ({
    when: task !== undefined,
    title: `${TASK[verb].title} ${task?.title ?? ""}`,
    cli: task && cliOf(verb, [task]),
    disabled: denied ?? (task && refusedOf(verb, task)),
  });
  useAction(TASK.retry, () => task && act("retry", [task]), options("retry"));
  useAction(TASK.cancel, () => task && act("cancel", [task]), options("cancel"));
  useAction(CANCEL_WHY, () => task && cancelWhy([task]), {
    ...options("cancel"),
    title: `Say why and cancel ${task?.title ?? ""}`,
    cli: task && cancelCli([task], ""),
  });
}

/** In a few words: what it waits for, or what went wrong. */
function Why({ task }: { task: Task }) {
  if (task.error) return <span title={task.error}>{task.error}</span>;
  if (task.state === "delayed" && task.readyAt) {
    return (
      <>
        comes <Time at={task.readyAt} />
      </>
    );
  }
  if (task.waitsFor > 0) return `waits for ${task.waitsFor} more`;
  if (task.stopping) return `is being stopped: ${task.stopping}`;
  return null;
}
