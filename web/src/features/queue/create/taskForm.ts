import type { NewTask } from "../../../api/types";
import { shellWord } from "../../../ui/format";
import { objectIn, wordsIn } from "../../../ui/typed";

/** What people type to make a task; an empty field leaves it to the server. */
export const EMPTY_TASK = {
  title: "",
  payload: "",
  pool: "",
  priority: "medium",
  requires: "",
  attempts: "",
  pause: "",
  longestPause: "",
  elsewhere: "",
  timeout: "",
  session: "",
};

/** What is asked of one task, and not of those that a schedule makes. */
export const EMPTY_TIMES = { start: "", deadline: "", after: "", key: "" };

export type TaskValues = Record<keyof typeof EMPTY_TASK, string>;
export type TimeValues = Record<keyof typeof EMPTY_TIMES, string>;
export type TaskFaults = Partial<Record<keyof TaskValues | keyof TimeValues, string>>;

const UNITS_MS: Record<string, number> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const SPAN_HELP = "Write a time such as 90s, 10m or 2h.";

/** A span as people write it, such as `90s`, in milliseconds; undefined if it is none. */
export function spanMs(text: string): number | undefined {
  const [, number, unit = ""] = /^(\d+)\s*(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  const factor = UNITS_MS[unit];
  return number === undefined || factor === undefined ? undefined : Number(number) * factor;
}

/** What is wrong with what was typed, field by field; an empty field is never wrong. */
export function faultsOf(values: TaskValues & Partial<TimeValues>): TaskFaults {
  const faults: TaskFaults = {};
  if (values.payload.trim() !== "" && objectIn(values.payload) === undefined) {
    faults.payload = 'Write a JSON object, such as {"branch": "main"}.';
  }
  for (const name of ["pause", "longestPause", "timeout"] as const) {
    if (values[name].trim() !== "" && spanMs(values[name]) === undefined) faults[name] = SPAN_HELP;
  }
  const seconds = spanMs(values.timeout);
  if (seconds !== undefined && seconds < 1_000) faults.timeout = "It has at least one second.";
  const attempts = Number(values.attempts);
  if (values.attempts !== "" && !(Number.isInteger(attempts) && attempts >= 1 && attempts <= 100)) {
    faults.attempts = "Write a number from 1 to 100.";
  }
  if (values.start && values.deadline && values.deadline <= values.start) {
    faults.deadline = "It would be of no use before it may begin.";
  }
  return faults;
}

/** What the server is asked to make; only what was said. */
export function taskOf(values: TaskValues & Partial<TimeValues>): NewTask {
  const text = (name: keyof TaskValues | keyof TimeValues) => values[name]?.trim() || undefined;
  const time = (name: "start" | "deadline") =>
    values[name] ? new Date(values[name]).toISOString() : undefined;
  const timeout = spanMs(values.timeout);
  const retry = retryOf(values);
  const requires = wordsIn(values.requires);
  const after = wordsIn(values.after ?? "");
  return given({
    title: values.title.trim(),
    payload: objectIn(values.payload),
    pool: text("pool"),
    priority: values.priority === "medium" ? undefined : values.priority,
    requires: requires.length > 0 ? requires : undefined,
    retry: Object.keys(retry).length > 0 ? retry : undefined,
    timeoutSeconds: timeout === undefined ? undefined : Math.round(timeout / 1_000),
    startAt: time("start"),
    deadline: time("deadline"),
    after: after.length > 0 ? after : undefined,
    session: text("session"),
    key: text("key"),
  }) as NewTask;
}

function retryOf(values: TaskValues) {
  return given({
    maxAttempts: values.attempts === "" ? undefined : Number(values.attempts),
    delayMs: spanMs(values.pause),
    maxDelayMs: spanMs(values.longestPause),
    elsewhere: values.elsewhere === "yes" ? true : undefined,
  });
}

/** Without the fields about which nothing was said. */
function given<T extends object>(fields: T): Partial<T> {
  const said = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said) as Partial<T>;
}

/** The flags of the command line that say the same. */
export function taskFlags(values: TaskValues & Partial<TimeValues>): string {
  const task = taskOf(values);
  const span = (name: "pause" | "longestPause" | "timeout") =>
    values[name].trim().replace(/\s+/g, "") || undefined;
  const flags: [flag: string, value: string | undefined][] = [
    ["--payload", task.payload ? JSON.stringify(task.payload) : undefined],
    ["--pool", task.pool ?? undefined],
    ["--priority", task.priority ?? undefined],
    ...wordsIn(values.requires).map((word): [string, string] => ["--require", word]),
    ["--max-attempts", values.attempts || undefined],
    ["--retry-delay", span("pause")],
    ["--retry-max-delay", span("longestPause")],
    ["--elsewhere", values.elsewhere === "yes" ? "" : undefined],
    ["--timeout", span("timeout")],
    ["--session", task.session ?? undefined],
    ["--start-at", task.startAt ?? undefined],
    ["--deadline", task.deadline ?? undefined],
    ...wordsIn(values.after ?? "").map((id): [string, string] => ["--after", id]),
    ["--key", task.key ?? undefined],
  ];
  return flags
    .filter(([, value]) => value !== undefined)
    .map(([flag, value]) => (value === "" ? ` ${flag}` : ` ${flag} ${shellWord(value ?? "")}`))
    .join("");
}
