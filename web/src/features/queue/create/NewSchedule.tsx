import { useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { post } from "../../../api/client";
import { toast } from "../../../change/toasts";
import { TextField } from "../../../ui/Field";
import { FormDrawer } from "../../../ui/form/FormDrawer";
import { placeError, useForm } from "../../../ui/form/form";
import { shellWord } from "../../../ui/format";
import { queueQueries } from "../queries";
import { RetryFields, WhatFields } from "./TaskFields";
import styles from "./TaskFields.module.css";
import { EMPTY_TASK, faultsOf, taskFlags, taskOf } from "./taskForm";
import { TASK_WORDS } from "./words";

const EMPTY = { name: "", cron: "", timezone: "", ...EMPTY_TASK };

/** Makes a task again and again, by the clock. */
export function NewSchedule({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const form = useForm({
    draft: "schedule",
    initial: EMPTY,
    send: (values) =>
      post("/api/v1/schedules", {
        name: values.name.trim(),
        cron: values.cron.trim(),
        ...(values.timezone.trim() !== "" && { timezone: values.timezone.trim() }),
        task: taskOf(values),
      }),
    done: ({ name }) => {
      client.invalidateQueries({ queryKey: queueQueries.schedules.queryKey });
      toast({ title: `The schedule ${name} is made` });
      onClose();
    },
  });
  const { values, set } = form;
  const wrong = faultsOf(values);
  const { fields, rest } = placeError(form.error, {
    cron: /cron|five fields|minute|weekday/i,
    timezone: /time ?zone/i,
    name: /name|called/i,
    ...TASK_WORDS,
  });
  const props = { values, set, faults: { ...fields, ...wrong } };
  return (
    <FormDrawer
      title="New schedule"
      act="Make the schedule"
      onClose={onClose}
      form={form}
      can="task:create:team"
      refused={whyNot(values, wrong)}
      error={rest}
      cli={scheduleCli(values)}
    >
      <When values={values} set={set} faults={fields} />
      <h3 className={styles.head}>What is made each time</h3>
      <WhatFields {...props} />
      <RetryFields {...props} />
    </FormDrawer>
  );
}

/** Its name and its hours. */
function When({
  values,
  set,
  faults,
}: {
  values: typeof EMPTY;
  set: (name: "name" | "cron" | "timezone", value: string) => void;
  faults: Partial<Record<"name" | "cron" | "timezone", string>>;
}) {
  const zones = useId();
  return (
    <>
      <TextField
        label="Name"
        value={values.name}
        placeholder="nightly"
        autoFocus
        error={faults.name}
        onChange={(event) => set("name", event.target.value)}
      />
      <div className={styles.pair}>
        <TextField
          label="When, as cron says it"
          value={values.cron}
          placeholder="0 3 * * *"
          error={faults.cron}
          note="Minute, hour, day, month, weekday; or @daily."
          onChange={(event) => set("cron", event.target.value)}
        />
        <TextField
          label="Time zone"
          value={values.timezone}
          placeholder="UTC"
          list={zones}
          error={faults.timezone}
          onChange={(event) => set("timezone", event.target.value)}
        />
        <datalist id={zones}>
          <option value={Intl.DateTimeFormat().resolvedOptions().timeZone} />
          <option value="UTC" />
        </datalist>
      </div>
    </>
  );
}

function whyNot(values: typeof EMPTY, wrong: object): string | undefined {
  if (values.name.trim() === "") return "Give it a name first.";
  if (values.cron.trim() === "") return "Say when it makes a task.";
  if (values.title.trim() === "") return "Say what is to be done each time.";
  return Object.keys(wrong).length > 0 ? "Something above is not right yet." : undefined;
}

function scheduleCli(values: typeof EMPTY): string {
  const { name, cron, timezone, title } = values;
  const zone = timezone.trim() === "" ? "" : ` --timezone ${shellWord(timezone.trim())}`;
  const when = `--cron ${shellWord(cron.trim() || "0 3 * * *")}${zone}`;
  return `godel schedule create ${shellWord(name.trim() || "NAME")} ${when} ${shellWord(title.trim() || "TITLE")}${taskFlags(values)}`;
}
