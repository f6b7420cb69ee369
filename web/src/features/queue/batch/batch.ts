import { post } from "../../../api/client";
import type { NewTask } from "../../../api/types";
import { asSentence } from "../../../ui/Sentence";
import { objectIn } from "../../../ui/typed";

/** As many as the server makes together, and about as much as it takes at once. */
const AT_ONCE = 1_000;
const AT_ONCE_CHARS = 256 * 1024;

/** A line of a text, by its number. */
export interface Line {
  number: number;
  text: string;
}

/** A line that is no task, or that the server refused, and why. */
export interface Fault extends Line {
  why: string;
}

interface Read extends Line {
  task: NewTask;
}

/** The tasks of a text, one JSON object a line, and the lines that are none; empty ones do not count. */
export function readBatch(text: string): { tasks: Read[]; faults: Fault[] } {
  const tasks: Read[] = [];
  const faults: Fault[] = [];
  for (const [at, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const found = { number: at + 1, text: line };
    const task = objectIn(line);
    if (task === undefined) faults.push({ ...found, why: "It is no JSON object." });
    else if (typeof task.title !== "string" || task.title.trim() === "") {
      faults.push({ ...found, why: "It has no title." });
    } else tasks.push({ ...found, task: task as NewTask });
  }
  return { tasks, faults };
}

/** Parts that the server takes at once. */
export function partsOf(tasks: readonly Read[], most = AT_ONCE): Read[][] {
  const parts: Read[][] = [];
  let chars = 0;
  for (const one of tasks) {
    const last = parts.at(-1);
    if (last && last.length < most && chars < AT_ONCE_CHARS) last.push(one);
    else {
      parts.push([one]);
      chars = 0;
    }
    chars += one.text.length;
  }
  return parts;
}

/** What became of a text: how many tasks were made, what was refused, and what was not tried after an error. */
export interface Outcome {
  made: number;
  refused: Fault[];
  untried: Line[];
  /** Why it went no further. */
  error: Error | undefined;
}

/** Makes the tasks, part by part; what the server refuses does not keep the rest. */
export async function sendBatch(tasks: readonly Read[], most = AT_ONCE): Promise<Outcome> {
  const outcome: Outcome = { made: 0, refused: [], untried: [], error: undefined };
  const parts = partsOf(tasks, most);
  for (const [at, part] of parts.entries()) {
    try {
      const body = { tasks: part.map(({ task }) => task) };
      const { items } = await post("/api/v1/tasks/batch", body);
      for (const [place, { number, text }] of part.entries()) {
        const error = items[place]?.error;
        if (!error) outcome.made += 1;
        else outcome.refused.push({ number, text, why: asSentence(error.message) });
      }
    } catch (error) {
      outcome.error = error instanceof Error ? error : new Error(String(error));
      outcome.untried = parts.slice(at).flat();
      return outcome;
    }
  }
  return outcome;
}

/** What is still to be made, as a text: nobody makes by a second try what was made by the first. */
export function leftOf({ refused, untried }: Outcome): string {
  const lines: Line[] = [...refused, ...untried];
  return lines.map(({ text }) => text).join("\n");
}
