import { ApiError, get } from "../../api/client";
import type { AuditEntry } from "../../api/types";
import { shellWord } from "../../ui/format";

/** Which acts are meant, as the server reads it. */
export interface ActFilter {
  action?: string;
  result?: string;
  since?: string;
  until?: string;
}

/** The most that the server puts on one page. */
const PAGE = 100;
/** Whoever reads all of a long record is asked to go slower now and then. */
const SLOW_DOWN_MS = 2_000;
const SLOW_DOWN_MOST = 60;

interface ReadOptions {
  /** Told how many acts are here after each page; says whether anybody still wants them. */
  onPart: (many: number) => boolean;
  /** How long to wait when the server asks for it and does not say for how long. */
  slowDownMs?: number;
}

/** Reads all acts, the newest first, however many there are; nothing if nobody wants them any more. */
export async function readActs(
  filter: ActFilter,
  { onPart, slowDownMs = SLOW_DOWN_MS }: ReadOptions,
): Promise<AuditEntry[] | undefined> {
  const fields = new URLSearchParams({ limit: String(PAGE), filter: JSON.stringify(filter) });
  const acts: AuditEntry[] = [];
  for (;;) {
    const page = await patiently(() => get(`/api/v1/audit?${fields}`), slowDownMs);
    acts.push(...page.items);
    const { cursor, hasMore } = page.pagination;
    if (!onPart(acts.length)) return undefined;
    if (!hasMore || !cursor) return acts;
    fields.set("cursor", cursor);
  }
}

/** Asks again when the server wants it slower. */
async function patiently<T>(ask: () => Promise<T>, slowDownMs: number): Promise<T> {
  for (let waits = 0; ; waits += 1) {
    try {
      return await ask();
    } catch (error) {
      const isTooFast = error instanceof ApiError && error.code === "rate_limited";
      if (!isTooFast || waits >= SLOW_DOWN_MOST) throw error;
      const seconds = error.retryAfterSeconds;
      const ms = seconds === undefined ? slowDownMs : seconds * 1_000;
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
  }
}

/** The record as the command line writes it: one act a line. */
export function actsFile(acts: readonly AuditEntry[]): Blob {
  const lines = acts.map((act) => `${JSON.stringify(act)}\n`);
  return new Blob(lines, { type: "application/x-ndjson" });
}

/** The same on the command line. */
export function exportCli(filter: ActFilter): string {
  const flags = Object.entries(filter).map(([name, value]) => ` --${name} ${shellWord(value)}`);
  return `godel audit export${flags.join("")} > acts.jsonl`;
}
