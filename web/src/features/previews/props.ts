import type { Target } from "./target";

/** What all parts of a panel know. */
export interface PreviewProps {
  target: Target;
  /** What it is called where several are in sight, such as `attempt 2`. */
  name?: string | undefined;
  /** Why this person may not run what was made here. */
  foreign: string | undefined;
}

/** Several controls of the same name are told apart by whose they are. */
export function named(title: string, name: string | undefined): { "aria-label"?: string } {
  return name === undefined ? {} : { "aria-label": `${title}: ${name}` };
}
