import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { TextField } from "../../../ui/Field";
import { Choice } from "../../../ui/form/Choice";
import { queueQueries } from "../queries";
import styles from "./TaskFields.module.css";
import type { TaskFaults, TaskValues, TimeValues } from "./taskForm";

/** How urgent something can be. */
export const PRIORITIES = ["critical", "high", "medium", "low"] as const;

interface FieldsProps<Values> {
  values: Values;
  set: (name: keyof Values & string, value: string) => void;
  faults: TaskFaults;
}

/** What is to be done, where it waits, and who can do it. */
export function WhatFields({
  values,
  set,
  faults,
  isFirst = false,
}: FieldsProps<TaskValues> & { isFirst?: boolean }) {
  const pools = useQuery(queueQueries.pools).data?.items ?? [];
  const known = useId();
  return (
    <>
      <TextField
        label="What is to be done, in a line"
        value={values.title}
        placeholder="build web"
        autoFocus={isFirst}
        error={faults.title}
        onChange={(event) => set("title", event.target.value)}
      />
      <Payload
        value={values.payload}
        error={faults.payload}
        onChange={(to) => set("payload", to)}
      />
      <div className={styles.pair}>
        <TextField
          label="Pool"
          value={values.pool}
          placeholder="default"
          list={known}
          error={faults.pool}
          onChange={(event) => set("pool", event.target.value)}
        />
        <datalist id={known}>
          {pools.map(({ name }) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <Choice
          label="Priority"
          value={values.priority}
          options={PRIORITIES.map((one) => [one, one] as const)}
          onChange={(next) => set("priority", next)}
        />
      </div>
      <TextField
        label="What its worker must be able to do"
        value={values.requires}
        placeholder="rust, linux"
        error={faults.requires}
        note="Only a worker that can do all of it gets the task."
        onChange={(event) => set("requires", event.target.value)}
      />
    </>
  );
}

/** How often it is tried, and how long an attempt may take. */
export function RetryFields({ values, set, faults }: FieldsProps<TaskValues>) {
  const field = (name: keyof TaskValues, label: string, placeholder: string) => (
    <TextField
      label={label}
      value={values[name]}
      placeholder={placeholder}
      error={faults[name]}
      onChange={(event) => set(name, event.target.value)}
    />
  );
  return (
    <>
      <h3 className={styles.head}>When an attempt fails</h3>
      <div className={styles.pair}>
        {field("attempts", "Attempts in all", "3")}
        {field("timeout", "An attempt may take", "as long as it takes")}
        {field("pause", "Pause after the first failure", "1s")}
        {field("longestPause", "Longest pause", "30s")}
        <Choice
          label="Who tries next"
          value={values.elsewhere}
          options={[
            ["", "Any worker"],
            ["yes", "Another worker"],
          ]}
          onChange={(next) => set("elsewhere", next)}
        />
        {field("session", "Session", "none")}
      </div>
    </>
  );
}

/** When it may begin, until when it is of use, what it waits for, and its key. */
export function TimeFields({ values, set, faults }: FieldsProps<TimeValues>) {
  return (
    <>
      <h3 className={styles.head}>When, and only once</h3>
      {(["start", "deadline"] as const).map((name) => (
        <TextField
          key={name}
          label={name === "start" ? "Not before" : "Of no use after"}
          type="datetime-local"
          value={values[name]}
          error={faults[name]}
          onChange={(event) => set(name, event.target.value)}
        />
      ))}
      <TextField
        label="Only after these tasks, by id"
        value={values.after}
        error={faults.after}
        onChange={(event) => set("after", event.target.value)}
      />
      <TextField
        label="Key"
        value={values.key}
        placeholder="report-2026-11-15"
        error={faults.key}
        note="With a key it is made once, however often it is asked for."
        onChange={(event) => set("key", event.target.value)}
      />
    </>
  );
}

function Payload(props: {
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}) {
  const id = useId();
  const isWrong = props.error !== undefined;
  return (
    <div className={styles.area}>
      <label htmlFor={id}>What the worker gets, as JSON</label>
      <textarea
        id={id}
        rows={3}
        spellCheck={false}
        placeholder='{"branch": "main"}'
        value={props.value}
        aria-invalid={isWrong || undefined}
        aria-describedby={isWrong ? `${id}-error` : undefined}
        onChange={(event) => props.onChange(event.target.value)}
      />
      {isWrong && (
        <p id={`${id}-error`} className={styles.wrong} role="alert">
          {props.error}
        </p>
      )}
    </div>
  );
}
