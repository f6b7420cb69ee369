import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ApiError } from "../../api/client";
import { asSentence } from "../Sentence";

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
  send: (values: Values) => Promise<Output>;
  done: (output: Output) => void;
}

/** The fields of a form, whether they were changed, and what the server said about them. */
export function useForm<Values extends Record<string, string>, Output>({
  initial,
  send,
  done,
}: FormOptions<Values, Output>) {
  const [values, setValues] = useState(initial);
  const mutation = useMutation<Output, Error, Values>({ mutationFn: send, onSuccess: done });
  const names = Object.keys(initial) as (keyof Values)[];
  const isDirty = names.some((name) => values[name] !== initial[name]);
  const set = <Name extends keyof Values>(name: Name, value: Values[Name]) =>
    setValues((before) => ({ ...before, [name]: value }));
  return {
    values,
    set,
    isDirty,
    isSending: mutation.isPending,
    error: mutation.error,
    submit: () => !mutation.isPending && mutation.mutate(values),
  };
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
