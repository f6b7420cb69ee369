import type { IconName } from "../../ui/Icon";
import type { Tone } from "../../ui/Status";

/** How a state looks: never by its colour alone. */
export interface Look {
  tone: Tone;
  icon: IconName;
}

const PLAIN: Look = { tone: "plain", icon: "circle" };

/** Where a task can be; it is in one place at a time. */
export const TASK_STATES = [
  "ready",
  "running",
  "delayed",
  "blocked",
  "dead",
  "succeeded",
  "cancelled",
] as const;

const LOOKS: Record<string, Look> = {
  ready: { tone: "info", icon: "inbox" },
  running: { tone: "info", icon: "play" },
  delayed: { tone: "plain", icon: "clock" },
  pending: { tone: "plain", icon: "clock" },
  waiting: { tone: "warn", icon: "hand" },
  paused: { tone: "warn", icon: "pause" },
  blocked: { tone: "warn", icon: "lock" },
  dead: { tone: "bad", icon: "cross" },
  failed: { tone: "bad", icon: "cross" },
  lost: { tone: "bad", icon: "alert" },
  timeout: { tone: "bad", icon: "clock" },
  succeeded: { tone: "ok", icon: "check" },
  completed: { tone: "ok", icon: "check" },
  skipped: { tone: "plain", icon: "chevron" },
  cancelled: { tone: "plain", icon: "stop" },
  idle: { tone: "ok", icon: "circle" },
  busy: { tone: "info", icon: "play" },
  offline: { tone: "plain", icon: "cross" },
  error: { tone: "bad", icon: "alert" },
  released: { tone: "plain", icon: "refresh" },
};

/** How a state of a task, an attempt, a run or a step looks. */
export function lookOf(state: string): Look {
  return LOOKS[state] ?? PLAIN;
}

/** `2 of 5`, or just `2` once it is over. */
export function attemptsOf(task: {
  attempt: number;
  lastAttempt?: number | null | undefined;
}): string {
  return task.lastAttempt ? `${task.attempt} of ${task.lastAttempt}` : String(task.attempt);
}

/** How long something took, in seconds; undefined while it has not begun. */
export function tookSeconds(
  from: string | null | undefined,
  to: string | null | undefined,
  now: number,
): number | undefined {
  if (!from) return undefined;
  return Math.max(0, Math.round(((to ? Date.parse(to) : now) - Date.parse(from)) / 1000));
}
