import { keysOf } from "../../actions/keymap";
import type { Task } from "../../api/types";
import { useForeignRefusal, useSession } from "../../roles/session";
import type { MenuItem } from "../../ui/Menu";
import { CANCEL_WHY, TASK } from "./actions";
import { useCancelTask, useRetryTask } from "./queries";
import { askForReason, reasonDraft } from "./ReasonDialog";
import { cancelCli, cliOf } from "./taskCli";

export type TaskVerb = keyof typeof TASK;

/** Tells why a verb cannot be done to a task: it makes no sense now, or the task is another's. */
export function useWhyNot(): (verb: TaskVerb, task: Task) => string | undefined {
  const { userId } = useSession();
  const foreign = useForeignRefusal("task:update:team");
  return (verb, task) =>
    foreign({ name: task.title, isOwn: task.createdBy === userId }) ?? whyNot(verb, task);
}

function whyNot(verb: TaskVerb, task: Task): string | undefined {
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
  const refusedOf = useWhyNot();
  const act = (verb: TaskVerb, tasks: readonly Task[], reason?: string) => {
    const able = tasks.filter((task) => refusedOf(verb, task) === undefined);
    onActed?.(able.map(({ id }) => id));
    for (const task of able) {
      if (verb === "retry") retry.mutate(task);
      else {
        const draft = reason === undefined ? reason : { name: reasonDraft([task]), text: reason };
        cancel.mutate({ task, reason, draft });
      }
    }
  };
  /** Why a verb can be done to none of them. */
  const whyNone = (verb: TaskVerb, tasks: readonly Task[]) => {
    const reasons = tasks.map((task) => refusedOf(verb, task));
    return reasons.every((why) => why !== undefined) ? reasons[0] : undefined;
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
      refused: refusedOf(verb, task),
      run: () => act(verb, [task]),
    })),
    {
      id: "cancel-why",
      title: CANCEL_WHY.title,
      icon: CANCEL_WHY.icon,
      can: CANCEL_WHY.can,
      destructive: true,
      cli: cancelCli([task], ""),
      refused: refusedOf("cancel", task),
      run: () => cancelWhy([task]),
    },
  ];
  return { act, cancelWhy, whyNone, menuOf };
}
