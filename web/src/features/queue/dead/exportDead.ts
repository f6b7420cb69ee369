import type { Task } from "../../../api/types";
import { csvOf } from "../../costs/csv";

/** How dead letters can be written to a file. */
export type DeadFormat = "jsonl" | "csv";

/** The columns that `godel dead export` writes, in its order. */
const COLUMNS = [
  "id",
  "title",
  "pool",
  "priority",
  "attempt",
  "createdAt",
  "startedAt",
  "endedAt",
  "error",
  "workerId",
  "key",
  "payload",
] as const satisfies readonly (keyof Task)[];

/** Dead letters as a file: all that is known of each as a line of JSON, or the same columns as the command line. */
export function deadFile(tasks: readonly Task[], format: DeadFormat): Blob {
  const text =
    format === "jsonl"
      ? tasks.map((task) => `${JSON.stringify(task)}\n`).join("")
      : csvOf(
          COLUMNS,
          tasks.map((task) => COLUMNS.map((name) => cell(task[name]))),
        );
  return new Blob([text], { type: format === "csv" ? "text/csv" : "application/x-ndjson" });
}

function cell(value: unknown): string | number {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "string") return value;
  return JSON.stringify(value);
}
