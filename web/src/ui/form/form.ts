import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ApiError } from "../../api/client";
import { asSentence } from "../Sentence";
import { type Draft, readDraft as readDraftText, writeDraft } from "../useDraft";

/** Which field of a form an answer of the server is about: by the field that it names, else by its words. */
export type FieldWords<Name extends string> = Readonly<Partial<Record<Name, RegExp>>>;

/** An error beside its field; what belongs to none is told for the whole form. */
export function placeError<Name extends string>(
  error: Error | null,
  words: FieldWords<Name>,
): { fields: Partial<Record<Name, string>>; rest: Error | undefined } {
  if (!error) return { fields: {}, rest: undefined };
  const names = Object.keys(words) as Name[];
  const text = `${error instanceof ApiError ? error.code : ""} ${error.message}`;
  const field = error instanceof ApiError ? error.field : undefined;
  const name =
    names.find((one) => one === field) ??
    names.find((one) => field !== undefined && words[one]?.test(field)) ??
    names.find((one) => words[one]?.test(text));
  const isAboutInput = error instanceof ApiError && error.status >= 400 && error.status < 500;
  if (name === undefined || !isAboutInput) return { fields: {}, rest: error };
  const told = [error.message, error.hint].filter((part) => part !== undefined).map(asSentence);
  const fields = { [name]: told.join(" ").replaceAll("`", "") } as Partial<Record<Name, string>>;
  return { fields, rest: undefined };
}

interface FormOptions<Values, Output> {
  initial: Values;
  /**
   * What the form is called among the drafts: what was written in it survives a step back and a
   * reload. A form with a secret in it has none, for a draft can be read in the browser.
   */
  draft?: string | undefined;
  send: (values: Values) => Promise<Output>;
  done: (output: Output) => void;
}

/**
 * Some texts that are written together, such as all of a dialog. They survive a step back and a
 * reload until they are discarded; without a name of a draft they last as long as the fields do.
 */
export function useFields<Values extends Record<string, string>>(
  draft: string | undefined,
  initial: Values,
) {
  const [values, setValues] = useState(() => ({ ...initial, ...readDraft(draft, initial) }));
  // Two fields may be set by one click, so what is kept follows from all of them, not from the last.
  const latest = useRef(values);
  const set = <Name extends keyof Values>(name: Name, value: Values[Name]) => {
    latest.current = { ...latest.current, [name]: value };
    setValues(latest.current);
    keepDraft(draft, changesOf(latest.current, initial));
  };
  return {
    values,
    set,
    isDirty: Object.keys(changesOf(values, initial)).length > 0,
    /** Forgets what was written; for who sent it, and for who does not want it. */
    discard: () => keepDraft(draft, {}),
    /** What is written now, to have it back when the server refuses. */
    written: writtenIn(draft, changesOf(values, initial)),
  };
}

/** The fields of a form, whether they were changed, and what the server said about them. */
export function useForm<Values extends Record<string, string>, Output>({
  initial,
  draft,
  send,
  done,
}: FormOptions<Values, Output>) {
  const { values, set, isDirty, discard } = useFields(draft, initial);
  const mutation = useMutation<Output, Error, Values>({
    mutationFn: send,
    onSuccess: (output) => {
      discard();
      done(output);
    },
  });
  return {
    values,
    set,
    isDirty,
    isSending: mutation.isPending,
    error: mutation.error,
    discard,
    submit: () => !mutation.isPending && mutation.mutate(values),
  };
}

/** What differs from how the form began: the rest may be newer when the draft is read again. */
function changesOf<Values extends Record<string, string>>(
  values: Values,
  initial: Values,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => value !== initial[name]),
  );
}

function keepDraft(draft: string | undefined, changed: Record<string, string>): void {
  const written = writtenIn(draft, changed);
  if (written) writeDraft(written.name, written.text);
}

function writtenIn(draft: string | undefined, changed: Record<string, string>): Draft | undefined {
  if (draft === undefined) return undefined;
  const isEmpty = Object.keys(changed).length === 0;
  return { name: `form.${draft}`, text: isEmpty ? "" : JSON.stringify(changed), isForm: true };
}

/** What was written earlier, as far as the form still has such fields. */
function readDraft<Values extends Record<string, string>>(
  draft: string | undefined,
  initial: Values,
): Partial<Values> {
  if (draft === undefined) return {};
  try {
    const kept: Record<string, unknown> = JSON.parse(readDraftText(`form.${draft}`) ?? "{}");
    const known = Object.entries(kept).filter(
      ([name, value]) => name in initial && typeof value === "string",
    );
    return Object.fromEntries(known) as Partial<Values>;
  } catch {
    return {};
  }
}

/** Asks before a page with unsaved changes is left by closing or reloading it. */
export function useLeaveGuard(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [isDirty]);
}
