import { keysOf } from "../../actions/keymap";
import type { Task } from "../../api/types";
import type { MenuItem } from "../../ui/Menu";
import { TASK } from "./actions";
import { useCancelTask, useRetryTask } from "./queries";

export type TaskVerb = keyof typeof TASK;

/** Why a verb makes no sense for a task now. */
export function whyNot(verb: TaskVerb, task: Task): string | undefined {
  if (verb === "retry") {
    const can = ["dead", "cancelled", "delayed"].includes(task.state);
    return can ? undefined : `It is ${task.state}; only what is dead, cancelled or delayed can be.`;
  }
  const isOver = ["dead", "cancelled", "succeeded"].includes(task.state);
  return isOver ? `It is over: it is ${task.state}.` : undefined;
}

/** The same on the command line. */
export function cliOf(verb: TaskVerb, tasks: readonly Task[]): string {
  return tasks.map(({ id }) => `godel task ${verb} ${id.slice(-8)}`).join("\n");
}

/** What can be done to tasks: one call for buttons, menus and keys. */
export function useTaskActs(onActed?: (ids: readonly string[]) => void) {
  const verbs = { retry: useRetryTask(), cancel: useCancelTask() };
  const act = (verb: TaskVerb, tasks: readonly Task[]) => {
    const able = tasks.filter((task) => whyNot(verb, task) === undefined);
    onActed?.(able.map(({ id }) => id));
    for (const task of able) verbs[verb].mutate(task);
  };
  const menuOf = (task: Task): MenuItem[] =>
    (["retry", "cancel"] as const).map((verb) => ({
      id: verb,
      title: TASK[verb].title,
      icon: TASK[verb].icon,
      keys: keysOf(TASK[verb])[0],
      can: TASK[verb].can,
      destructive: TASK[verb].destructive,
      cli: cliOf(verb, [task]),
      refused: whyNot(verb, task),
      run: () => act(verb, [task]),
    }));
  return { act, menuOf };
}
