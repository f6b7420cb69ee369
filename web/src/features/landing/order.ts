import type { Landing, LandingLine, MoveLanding } from "../../api/types";

/** How an entry is moved among those that wait. */
export type Step = "first" | "up" | "down" | "last";

export const STEPS = ["first", "up", "down", "last"] as const;

type Entry = Pick<Landing, "bead" | "stage" | "projectId">;

/** Those of the same queue that wait, in order. */
function waitingWith(entry: Entry, landings: readonly Landing[]): Landing[] {
  return landings.filter((one) => one.stage === "waiting" && one.projectId === entry.projectId);
}

/** Where a step takes an entry; nothing if there is no such place. */
export function whither(
  step: Step,
  entry: Entry,
  landings: readonly Landing[],
): MoveLanding | undefined {
  const waiting = waitingWith(entry, landings);
  const at = waiting.findIndex(({ bead }) => bead === entry.bead);
  const isLast = at === waiting.length - 1;
  if (at === -1 || (step === "first" || step === "up" ? at === 0 : isLast)) return undefined;
  if (step === "first") return { first: true };
  if (step === "last") return { first: false };
  const next = waiting[step === "up" ? at - 1 : at + 2];
  return next ? { before: next.bead, first: false } : { first: false };
}

/** The place that an entry has now, to go back to it. */
export function placeOf(entry: Entry, landings: readonly Landing[]): MoveLanding {
  const waiting = waitingWith(entry, landings);
  const next = waiting[waiting.findIndex(({ bead }) => bead === entry.bead) + 1];
  return next ? { before: next.bead, first: false } : { first: false };
}

/** Why a step makes no sense now. */
export function whyNoStep(
  step: Step,
  entry: Entry,
  landings: readonly Landing[],
): string | undefined {
  if (entry.stage !== "waiting") return `${entry.bead} does not wait in the queue.`;
  if (whither(step, entry, landings)) return undefined;
  const end = step === "first" || step === "up" ? "first" : "last";
  return `${entry.bead} is the ${end} of those that wait.`;
}

/** A line as it is after a move: places change hands among those that wait. */
export function moved(line: LandingLine, bead: string, to: MoveLanding): LandingLine {
  const waiting = line.landings.filter(({ stage }) => stage === "waiting");
  const one = waiting.find((entry) => entry.bead === bead);
  if (!one) return line;
  const order = waiting.filter((entry) => entry !== one);
  const before = order.findIndex((entry) => entry.bead === to.before);
  order.splice(to.first ? 0 : before === -1 ? order.length : before, 0, one);
  let at = 0;
  const landings = line.landings.map((entry) => {
    if (entry.stage !== "waiting") return entry;
    const { position = null, etaSeconds = null } = entry;
    const next = order[at++] ?? entry;
    return { ...next, position, etaSeconds };
  });
  return { ...line, landings };
}
