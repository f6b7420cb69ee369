import { ApiError, download, upload } from "../../../api/client";
import { queryOf } from "../../../api/query";
import type { ImportedBeads } from "../../../api/types";
import { plural, shellWord } from "../../../ui/format";

/** It may change what others made. */
export const MAY_IMPORT = "bead:update:team";
export const EXPORT_NAME = "beads.jsonl";
export const EXPORT_CLI = `godel export beads ${EXPORT_NAME}`;
/** The largest file that the server takes. */
export const MAX_BYTES = 32 * 1024 * 1024;
const LINES = "application/x-ndjson";
/** Thousands of beads are one commit, and that takes a while. */
const PATIENCE_MS = 120_000;

/** A file that was chosen, with what was in it at that moment. */
export interface ChosenFile {
  name: string;
  bytes: ArrayBuffer;
}

/** Reads what was chosen once: the trial and the import are of the same bytes. */
export async function readChosen(file: File): Promise<ChosenFile> {
  if (file.size > MAX_BYTES) {
    throw new ApiError(413, {
      code: "too_large",
      message: `${file.name} is too large to be sent`,
      hint: `\`godel import beads\` takes files of any size`,
    });
  }
  return { name: file.name, bytes: await file.arrayBuffer() };
}

/** Takes a file over, or only tells what that would change. */
export function importBeads(
  { bytes }: ChosenFile,
  projectId: string | undefined,
  { dryRun }: { dryRun: boolean },
): Promise<ImportedBeads> {
  const fields = new URLSearchParams({ ...(projectId && { projectId }), dryRun: String(dryRun) });
  return upload(`/api/v1/beads/import?${fields}`, { bytes, type: LINES }, PATIENCE_MS);
}

/** All beads of a project, as a file. */
export function exportBeads(projectId: string | undefined): Promise<Blob> {
  return download(`/api/v1/beads/export${queryOf(projectId ? { projectId } : {})}`);
}

/** `2 new, 1 changed, 14 as they are` */
export function tellCounts({ created, updated, unchanged }: ImportedBeads): string {
  return [`${created} new`, `${updated} changed`, `${unchanged} as they are`].join(", ");
}

/** What the button says: how much it would do. */
export function actOf(plan: ImportedBeads | undefined): string {
  const all = plan ? plan.created + plan.updated : 0;
  return all === 0 ? "Import" : `Import ${plural(all, "bead")}`;
}

export const importCli = (name: string | undefined) =>
  `godel import beads ${shellWord(name ?? "FILE")}`;
