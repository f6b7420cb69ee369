import { useQueryClient } from "@tanstack/react-query";
import { post } from "../../../api/client";
import { toast } from "../../../change/toasts";
import { FormDrawer } from "../../../ui/form/FormDrawer";
import { placeError, useForm } from "../../../ui/form/form";
import { shellWord } from "../../../ui/format";
import { peekAt } from "../peek";
import { TASK_LISTS } from "../queries";
import { RetryFields, TimeFields, WhatFields } from "./TaskFields";
import { EMPTY_TASK, EMPTY_TIMES, faultsOf, taskFlags, taskOf } from "./taskForm";
import { TASK_WORDS } from "./words";

/** Puts a task into the queue. */
export function NewTask({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const form = useForm({
    draft: "task",
    initial: { ...EMPTY_TASK, ...EMPTY_TIMES },
    send: (values) => post("/api/v1/tasks", taskOf(values)),
    done: ({ id, fresh }) => {
      for (const queryKey of TASK_LISTS) client.invalidateQueries({ queryKey });
      const title = fresh
        ? "The task is in the queue"
        : "A task with this key was there already; nothing was made";
      toast({ title });
      onClose();
      peekAt("task", id);
    },
  });
  const { values, set } = form;
  const wrong = faultsOf(values);
  const { fields, rest } = placeError(form.error, {
    ...TASK_WORDS,
    start: /startAt|start/i,
    deadline: /deadline/i,
    after: /after|no such task|no_task/i,
    key: /key/i,
  });
  const props = { values, set, faults: { ...fields, ...wrong } };
  return (
    <FormDrawer
      title="New task"
      act="Put it into the queue"
      onClose={onClose}
      form={form}
      can="task:create:own"
      refused={whyNot(values.title, wrong)}
      error={rest}
      cli={`godel task create ${shellWord(values.title.trim() || "TITLE")}${taskFlags(values)}`}
    >
      <WhatFields {...props} isFirst />
      <TimeFields {...props} />
      <RetryFields {...props} />
    </FormDrawer>
  );
}

function whyNot(title: string, wrong: object): string | undefined {
  if (title.trim() === "") return "Say what is to be done first.";
  return Object.keys(wrong).length > 0 ? "Something above is not right yet." : undefined;
}
