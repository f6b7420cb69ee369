import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { toast } from "../../../change/toasts";
import { FileDrop } from "../../../ui/FileDrop";
import { FormDrawer } from "../../../ui/form/FormDrawer";
import { LongField } from "../../../ui/form/LongField";
import { plural } from "../../../ui/format";
import { useDraft } from "../../../ui/useDraft";
import { TASK_LISTS } from "../queries";
import styles from "../workflows/workflows.module.css";
import { type Fault, leftOf, readBatch, sendBatch } from "./batch";

const EXAMPLE = `{"title": "build web", "pool": "ci"}
{"title": "build api", "pool": "ci", "payload": {"branch": "main"}}
`;
/** More is for the command line: a page has to hold all of it. */
const MOST_BYTES = 10_000_000;
/** So many faults are enough to see what is wrong. */
const MOST_FAULTS = 20;

/** Puts many tasks into the queue at once. */
export function BatchDrawer({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [text, setText, clear] = useDraft("tasks");
  const [unreadable, setUnreadable] = useState<Error>();
  const { tasks, faults } = useMemo(() => readBatch(text), [text]);
  const send = useMutation({
    mutationFn: () => sendBatch(tasks),
    onSuccess: (outcome) => {
      for (const queryKey of TASK_LISTS) client.invalidateQueries({ queryKey });
      const { made } = outcome;
      if (made > 0)
        toast({ title: `${plural(made, "task")} ${made === 1 ? "is" : "are"} in the queue` });
      const left = leftOf(outcome);
      if (left !== "") return setText(left);
      clear();
      onClose();
    },
  });
  const change = (next: string) => {
    send.reset();
    setUnreadable(undefined);
    setText(next);
  };
  const choose = async (file: File) => {
    if (file.size <= MOST_BYTES) return change(await file.text());
    setUnreadable(new Error("The file is too large for a page; godel task batch takes it."));
  };
  const discard = () => {
    clear();
    onClose();
  };
  const outcome = send.data;
  return (
    <FormDrawer
      title="Many tasks"
      act={tasks.length > 0 ? `Make ${plural(tasks.length, "task")}` : "Make the tasks"}
      onClose={discard}
      form={{
        submit: () => send.mutate(),
        isDirty: text !== "",
        isSending: send.isPending,
      }}
      can="task:create:own"
      refused={whyNot(tasks.length, faults.length)}
      error={unreadable ?? outcome?.error ?? send.error ?? undefined}
      cli="godel task batch tasks.jsonl"
    >
      <LongField
        label="The tasks, one JSON object a line"
        rows={12}
        isSource
        autoFocus
        value={text}
        placeholder={EXAMPLE}
        onChange={(event) => change(event.target.value)}
      />
      <Faults title="These lines are no tasks" faults={faults} />
      {outcome && (
        <Faults
          title={`${plural(outcome.made, "task")} made. These were refused, and are left above`}
          // What was made is gone from the text, so those that are left have other numbers now.
          faults={outcome.refused.map((one, at) => ({ ...one, number: at + 1 }))}
        />
      )}
      <FileDrop
        label="Or a file of tasks"
        accept=".jsonl,.ndjson,application/x-ndjson"
        chosen={undefined}
        onChoose={choose}
      />
    </FormDrawer>
  );
}

function Faults({ title, faults }: { title: string; faults: readonly Fault[] }) {
  if (faults.length === 0) return null;
  const shown = faults.slice(0, MOST_FAULTS);
  return (
    <section className={styles.problems} aria-label={title} role="alert">
      <p>{title}:</p>
      <ul>
        {shown.map(({ number, why }) => (
          <li key={number}>
            <span className="tabular">Line {number}</span>
            <span>{why}</span>
          </li>
        ))}
      </ul>
      {faults.length > shown.length && <p>And {faults.length - shown.length} more.</p>}
    </section>
  );
}

function whyNot(tasks: number, faults: number): string | undefined {
  if (faults > 0) return "A line is no task yet.";
  return tasks === 0 ? "Write a task first." : undefined;
}
