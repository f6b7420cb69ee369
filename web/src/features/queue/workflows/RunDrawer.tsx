import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { navigate } from "../../../router/router";
import { TextField } from "../../../ui/Field";
import { Choice } from "../../../ui/form/Choice";
import { FormDrawer } from "../../../ui/form/FormDrawer";
import { LongField } from "../../../ui/form/LongField";
import { asSentence } from "../../../ui/Sentence";
import { objectIn } from "../../../ui/typed";
import { useDraft } from "../../../ui/useDraft";
import { rerunCli } from "../graph/RunHead";
import { queueQueries } from "../queries";
import { type Input, inputsOf, valuesOf, whyNoValue } from "./inputs";
import { problemsOf, startRun, workflowQuery } from "./queries";
import { SourceBox } from "./SourceBox";

interface RunDrawerProps {
  /** The stored workflow that is run unless another one is chosen. */
  name?: string | undefined;
  onClose: () => void;
}

/** Runs a stored workflow, or a text, with what it is given. */
export function RunDrawer({ name, onClose }: RunDrawerProps) {
  const stored = useQuery(queueQueries.workflows);
  const names = stored.data?.items.map((one) => one.name) ?? [];
  const [chosen, choose] = useState<string>();
  // The stored ones may come while somebody writes a text: none of them is chosen unasked.
  const workflow = chosen ?? name ?? "";
  const [text, setText, clear] = useDraft("workflow.run");
  const known = useQuery({ ...workflowQuery(workflow), enabled: workflow !== "" });
  const source = workflow === "" ? text : (known.data?.source ?? undefined);
  const given = useGiven(source);
  const run = useMutation({
    mutationFn: () =>
      startRun(workflow === "" ? { source: text } : { workflow }, given.values ?? {}),
    onSuccess: ({ id }) => {
      clear();
      navigate(`/queue/runs/${id}`);
    },
  });
  const { field, rest } = placeOf(run.error, given.inputs);
  return (
    <FormDrawer
      title={workflow === "" ? "Run a workflow" : `Run ${workflow}`}
      act="Run it"
      onClose={onClose}
      form={{
        submit: () => run.mutate(),
        isDirty: workflow === "" ? text !== "" : given.isTyped,
        isSending: run.isPending,
      }}
      can="workflow:execute:own"
      refused={source?.trim() ? given.refused : "Choose or write a workflow first."}
      error={rest ?? known.error ?? undefined}
      cli={rerunCli({ name: workflow || "FILE", inputs: given.values ?? {} })}
    >
      {names.length > 0 && (
        <Choice
          label="Workflow"
          value={workflow}
          options={[["", "A text of your own"], ...names.map((one) => [one, one] as const)]}
          onChange={(next) => {
            choose(next);
            run.reset();
          }}
        />
      )}
      {workflow === "" && <SourceBox value={text} onChange={setText} error={run.error} rows={10} />}
      <Inputs given={given} error={field} />
    </FormDrawer>
  );
}

/** What is given to the run: field by field where the text says which, else as JSON. */
function useGiven(source: string | undefined) {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const [json, setJson] = useState("{}");
  const inputs = source === undefined ? [] : inputsOf(source);
  const set = (name: string, text: string) => setTyped((before) => ({ ...before, [name]: text }));
  const whole = inputs ? undefined : objectIn(json);
  const isWrong = inputs?.some((input) => whyNoValue(input, typed[input.name] ?? "") !== undefined);
  const refused = isWrong
    ? "Say what the workflow is given first."
    : !inputs && !whole
      ? "Write the inputs as a JSON object."
      : undefined;
  const values = inputs ? (isWrong ? undefined : valuesOf(inputs, typed)) : whole;
  const isTyped = Object.values(typed).some((text) => text !== "") || json !== "{}";
  return { inputs, typed, set, json, setJson, values, refused, isTyped };
}

type Given = ReturnType<typeof useGiven>;

function Inputs({ given, error }: { given: Given; error: Partial<Record<string, string>> }) {
  if (!given.inputs) {
    return (
      <LongField
        label="Inputs, as JSON"
        rows={5}
        isSource
        value={given.json}
        note="The text declares them in a way that this form does not read; the server does."
        onChange={(event) => given.setJson(event.target.value)}
      />
    );
  }
  return given.inputs.map((input) => (
    <OneInput
      key={input.name}
      input={input}
      value={given.typed[input.name] ?? ""}
      error={error[input.name]}
      onChange={(text) => given.set(input.name, text)}
    />
  ));
}

interface OneInputProps {
  input: Input;
  value: string;
  error: string | undefined;
  onChange: (text: string) => void;
}

function OneInput({ input, value, error, onChange }: OneInputProps) {
  const { name, type, isRequired, fallback, options, description } = input;
  const note = [
    description && asSentence(description),
    `${type[0]?.toUpperCase()}${type.slice(1)}${isRequired ? ", needed" : ""}.`,
  ].filter(Boolean);
  const words = type === "boolean" ? ["true", "false"] : options;
  if (words.length > 0) {
    const open = fallback === undefined ? "Not given" : `As usual: ${fallback}`;
    return (
      <Choice
        label={name}
        value={value}
        options={[["", open], ...words.map((one) => [one, one] as const)]}
        onChange={onChange}
        note={note.join(" ")}
      />
    );
  }
  const wrong = value === "" ? undefined : whyNoValue(input, value);
  return (
    <TextField
      label={name}
      value={value}
      placeholder={fallback ?? ""}
      autoComplete="off"
      error={wrong ?? error}
      note={note.join(" ")}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** Puts what the server said about an input beside it. */
function placeOf(error: Error | null, inputs: readonly Input[] | undefined) {
  if (!error || problemsOf(error).problems.length > 0) return { field: {}, rest: undefined };
  const about = inputs?.find(({ name }) => error.message.includes(`input \`${name}\``));
  if (!about) return { field: {}, rest: error };
  const told = asSentence(error.message).replaceAll("`", "");
  return { field: { [about.name]: told }, rest: undefined };
}
