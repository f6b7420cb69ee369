import type { ComponentProps } from "react";
import { TextField } from "../Field";

interface FormFieldProps<Values extends Record<string, string>>
  extends Omit<ComponentProps<typeof TextField>, "value" | "onChange" | "error" | "form" | "name"> {
  /** What `useForm` gave. */
  form: { values: Values; set: (name: keyof Values & string, value: string) => void };
  /** Which of its values this is. */
  name: keyof Values & string;
  /** What is wrong with them. */
  faults: Partial<Record<keyof Values, string | undefined>>;
}

/** A line of text of a form: it shows a value, changes it, and says what is wrong with it. */
export function FormField<Values extends Record<string, string>>({
  form,
  name,
  faults,
  ...rest
}: FormFieldProps<Values>) {
  return (
    <TextField
      autoComplete="off"
      value={form.values[name]}
      error={faults[name]}
      onChange={(event) => form.set(name, event.target.value)}
      {...rest}
    />
  );
}
