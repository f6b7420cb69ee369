import { queryOptions } from "@tanstack/react-query";
import { ApiError, get, patch, post, remove } from "../../../api/client";
import type { Listing } from "../../../api/list";
import type { Run, Workflow, WorkflowOutline } from "../../../api/types";
import { toast } from "../../../change/toasts";
import { tellRefusal, useChange } from "../../../change/useChange";
import { onLive } from "../../../realtime/rules";
import { saveAs } from "../../../ui/saveAs";

const LIST = ["workflows"] as const;
const path = (name: string) => `/api/v1/workflows/${encodeURIComponent(name)}` as const;

/** A stored workflow with its text, by its name or id. */
export const workflowQuery = (name: string) =>
  queryOptions({ queryKey: ["workflow", name], queryFn: () => get(path(name)) });

/** Its steps, each with the wave in which it runs at the earliest. */
export const outlineQuery = (name: string) =>
  queryOptions({
    queryKey: ["workflow", name, "steps"],
    queryFn: () => get(`${path(name)}/steps`),
  });

onLive({ on: "workflow:*", invalidate: () => [["workflow"]] });

/** Tells how a text is understood; nothing is stored. */
export function checkSource(source: string): Promise<WorkflowOutline> {
  return post("/api/v1/workflows/validate", { source });
}

/** Stores a text under the name that it says, or puts it in the place of a workflow. */
export function saveSource(source: string, known: string | undefined): Promise<Workflow> {
  if (known === undefined) return post("/api/v1/workflows", { source });
  return patch(path(known), { source });
}

/** Starts a stored workflow, or one that comes with the request. */
export function startRun(
  what: { workflow: string } | { source: string },
  inputs: Record<string, unknown>,
): Promise<Run> {
  return post("/api/v1/runs", { ...what, inputs });
}

/** Deletes a stored workflow; its runs stay, and its text can be stored again. */
export function useDeleteWorkflow() {
  return useChange<Workflow, Workflow>({
    what: ({ name }) => `Delete ${name}`,
    send: async ({ name }) => {
      const whole = await get(path(name));
      await remove(path(name));
      return whole;
    },
    expect: (cache, { id }) =>
      cache.update<Listing<Workflow>>(LIST, (all) => ({
        ...all,
        items: all.items.filter((one) => one.id !== id),
      })),
    settle: () => [LIST],
    done: ({ name }) => `${name} is deleted`,
    undo: (_, whole) => saveSource(whole.source ?? "", undefined),
  });
}

/** As what a workflow can be taken away. */
export type Export = "yaml" | "mermaid" | "dot";

const ENDINGS: Record<Export, string> = { yaml: "yaml", mermaid: "mmd", dot: "dot" };

/** Gives the text of a workflow, or a drawing of it as text, as a file. */
export async function exportWorkflow(name: string, format: Export): Promise<void> {
  try {
    const text =
      format === "yaml"
        ? ((await get(path(name))).source ?? "")
        : (await get(`${path(name)}/drawing?format=${format}`)).text;
    saveAs(`${name}.${ENDINGS[format]}`, new Blob([text], { type: "text/plain" }));
    toast({ title: `${name}.${ENDINGS[format]} is saved` });
  } catch (error) {
    const why = error instanceof Error ? error : new Error(String(error));
    tellRefusal(`Export ${name}`, why, () => exportWorkflow(name, format));
  }
}

/** One thing that is wrong with a text, and where. */
export interface Problem {
  line: number;
  column: number;
  message: string;
  hint?: string;
}

/** All that the server found wrong with a text, and how much more there is. */
export function problemsOf(error: Error | null): { problems: Problem[]; leftOut: number } {
  const none = { problems: [], leftOut: 0 };
  if (!(error instanceof ApiError) || error.code !== "invalid_workflow") return none;
  const told = error.details as { problems?: Problem[]; leftOut?: number } | undefined;
  return { problems: told?.problems ?? [], leftOut: told?.leftOut ?? 0 };
}
