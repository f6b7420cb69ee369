import type { Run, RunStep } from "../../../api/types";
import { plural } from "../../../ui/format";
import { tookSeconds } from "../states";

/**
 * The way that decides how long the run takes: what is ahead, as the server sees it, and before it
 * the steps that were waited for last.
 */
export function decisiveWay(steps: readonly RunStep[], ahead: readonly string[]): string[] {
  const known = new Map(steps.map((step) => [step.id, step]));
  // What was skipped has an end as well, but nobody waited for it.
  const ended = (step: RunStep) => (step.startedAt ? Date.parse(step.finishedAt ?? "") || 0 : 0);
  const latest = (some: readonly RunStep[]) =>
    some.reduce<RunStep | undefined>(
      (last, step) => (ended(step) > (last ? ended(last) : 0) ? step : last),
      undefined,
    );
  const first = ahead[0] === undefined ? latest(steps) : known.get(ahead[0]);
  if (!first) return [...ahead];
  const way: string[] = [];
  for (let step: RunStep | undefined = first; step && !way.includes(step.id); ) {
    way.unshift(step.id);
    step = latest(step.dependsOn.flatMap((id) => known.get(id) ?? []));
  }
  return [...way, ...ahead.slice(1)];
}

/** The edges of a way, as `from to`. */
export function edgesOf(way: readonly string[]): Set<string> {
  return new Set(way.slice(1).map((to, at) => edgeKey(way[at] ?? "", to)));
}

export function edgeKey(from: string, to: string): string {
  return JSON.stringify([from, to]);
}

/** A step on a line of time, in shares of the whole from 0 to 100. */
export interface Bar {
  id: string;
  left: number;
  width: number;
  /** In seconds since the run began. */
  from: number;
  took: number;
}

/** All that has begun, on one line of time; `seconds` is how long the line is. */
export function barsOf(
  run: Pick<Run, "startedAt" | "createdAt" | "finishedAt">,
  steps: readonly RunStep[],
  now: number,
): { bars: Map<string, Bar>; seconds: number } {
  const begin = Date.parse(run.startedAt ?? run.createdAt);
  const begun = steps.filter(({ startedAt }) => startedAt);
  const isOver = Boolean(run.finishedAt);
  const stop = (step: RunStep) => Date.parse(step.finishedAt ?? run.finishedAt ?? "") || now;
  // A clock may be behind; the line is never empty.
  const end = Math.max(begin + 1_000, ...begun.map(stop), isOver ? begin : now);
  const share = (ms: number) => (ms / (end - begin)) * 100;
  const bars = begun.map((step): [string, Bar] => {
    const from = Math.max(begin, Date.parse(step.startedAt ?? ""));
    const to = Math.max(from, stop(step));
    const [left, width] = [share(from - begin), share(to - from)];
    const took = Math.round((to - from) / 1000);
    return [step.id, { id: step.id, left, width, from: Math.round((from - begin) / 1000), took }];
  });
  return { bars: new Map(bars), seconds: Math.round((end - begin) / 1000) };
}

const TICKS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400];

/** Round times to mark on a line of so many seconds, six at most. */
export function ticksOf(seconds: number): number[] {
  const fitting = TICKS.find((size) => seconds / size <= 6) ?? Math.ceil(seconds / 6);
  return Array.from({ length: Math.floor(seconds / fitting) + 1 }, (_, at) => at * fitting);
}

/** How many cards lie on each other: earlier rounds, and the attempts of this one. */
export function stackOf(step: RunStep, attempts: number): number {
  return step.round + Math.max(1, attempts);
}

/** How often a step was tried, in words; of earlier rounds only their number is known. */
export function triesOf(step: RunStep, attempts: number): string[] {
  return [
    ...(attempts > 1 ? [plural(attempts, "attempt")] : []),
    ...(step.round > 0 ? [`begun anew ${plural(step.round, "time")}`] : []),
  ];
}

/** What a card says to somebody who does not see it. */
export function spoken(
  step: RunStep,
  { attempts, isDecisive, now }: { attempts: number; isDecisive: boolean; now: number },
): string {
  const took = tookSeconds(step.startedAt, step.finishedAt, now);
  return [
    step.id,
    step.state,
    step.kind !== "task" && step.kind,
    step.dependsOn.length > 0 && `after ${step.dependsOn.join(", ")}`,
    ...triesOf(step, attempts),
    took !== undefined && plural(took, "second"),
    isDecisive && "on the critical path",
  ]
    .filter(Boolean)
    .join(", ");
}

/** Steps in these states are over. */
const OVER: readonly string[] = ["succeeded", "failed", "skipped", "cancelled"];

/** Why a step cannot be done anew; the rules of the server. */
export function whyNoRetry(step: RunStep): string | undefined {
  if (OVER.includes(step.state)) return undefined;
  return `${step.id} is ${step.state}; only what is over can be done anew.`;
}

/** All that comes after a step, near or far. */
export function dependantsOf(id: string, steps: readonly RunStep[]): string[] {
  const after = new Set([id]);
  // Each step that is found may lead to more, and a set is walked to those that are added meanwhile.
  for (const found of after) {
    for (const step of steps) if (step.dependsOn.includes(found)) after.add(step.id);
  }
  after.delete(id);
  return [...after];
}

/** What is asked before a step that succeeded is done anew: what it gave back is lost, and more with it. */
export function askRerun(step: RunStep, steps: readonly RunStep[]) {
  const after = dependantsOf(step.id, steps).length;
  const more =
    after === 0
      ? "No step comes after it."
      : `${plural(after, "step")} after it ${after === 1 ? "is" : "are"} done anew as well.`;
  return {
    title: `Rerun from ${step.id}?`,
    body: `${step.id} succeeded. It is done once more, and its output is made anew. ${more}`,
    act: "Rerun from here",
  };
}

/** What may be run again as it was, or why not. */
export function whyNoRerun(run: Pick<Run, "workflowId" | "teamId" | "parentId">) {
  if (run.parentId) return "It is part of another run; run that one again.";
  if (run.teamId) return "It is the plan of a team; start the team again.";
  return run.workflowId ? undefined : "Its workflow is not stored, so only its file can be run.";
}
