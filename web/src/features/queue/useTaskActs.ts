import { keysOf } from "../../actions/keymap";
import type { Task } from "../../api/types";
import type { MenuItem } from "../../ui/Menu";
import { CANCEL_WHY, TASK } from "./actions";
import { useCancelTask, useRetryTask } from "./queries";
import { askForReason } from "./ReasonDialog";
import { cancelCli, cliOf } from "./taskCli";

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

/** What can be done to tasks: one call for buttons, menus and keys. */
export function useTaskActs(onActed?: (ids: readonly string[]) => void) {
  const retry = useRetryTask();
  const cancel = useCancelTask();
  const act = (verb: TaskVerb, tasks: readonly Task[], reason?: string) => {
    const able = tasks.filter((task) => whyNot(verb, task) === undefined);
    onActed?.(able.map(({ id }) => id));
    for (const task of able) {
      if (verb === "retry") retry.mutate(task);
      else cancel.mutate({ task, reason });
    }
  };
  const cancelWhy = async (tasks: readonly Task[]) => {
    const reason = await askForReason(tasks);
    if (reason !== undefined) act("cancel", tasks, reason);
  };
  const menuOf = (task: Task): MenuItem[] => [
    ...(["retry", "cancel"] as const).map((verb) => ({
      id: verb,
      title: TASK[verb].title,
      icon: TASK[verb].icon,
      keys: keysOf(TASK[verb])[0],
      can: TASK[verb].can,
      destructive: TASK[verb].destructive,
      cli: cliOf(verb, [task]),
      refused: whyNot(verb, task),
      run: () => act(verb, [task]),
    })),
    {
      id: "cancel-why",
      title: CANCEL_WHY.title,
      icon: CANCEL_WHY.icon,
      can: CANCEL_WHY.can,
      destructive: true,
      cli: cancelCli([task], ""),
      refused: whyNot("cancel", task),
      run: () => cancelWhy([task]),
    },
  ];
  return { act, cancelWhy, menuOf };
}
