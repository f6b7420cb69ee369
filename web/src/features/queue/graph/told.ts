import type { Run, RunStep } from "../../../api/types";

/** What each view of a run needs: the steps, and what is known of them beside their state. */
export interface Told {
  run: Run;
  steps: readonly RunStep[];
  /** The ids of the way that decides how long it takes. */
  way: readonly string[];
  /** The attempts of each step since it was last begun, as far as they are known. */
  attempts: ReadonlyMap<string, number>;
  now: number;
  chosen: string | undefined;
  onChoose: (id: string) => void;
}
