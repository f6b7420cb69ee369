import { queryOptions } from "@tanstack/react-query";
import { get } from "../../api/client";
import type { AgentLine, AgentLog, GodelEvent } from "../../api/types";
import { refOf } from "../../realtime/items";
import { onLive } from "../../realtime/rules";

/** What an agent said and did, and whether that is not all. */
export interface Log {
  lines: readonly AgentLine[];
  next: number;
  isCut: boolean;
}

const PAGE = 500;
/** A log of more lines is shown from its beginning up to here, and says so. */
const MOST_LINES = 20_000;
const KEY = "agent-log";

/** The whole log of an agent; what comes later is put behind it. */
export const logQuery = (id: string) =>
  queryOptions({ queryKey: [KEY, id], queryFn: () => readLog(id) });

async function readLog(id: string): Promise<Log> {
  const lines: AgentLine[] = [];
  let next = 0;
  for (;;) {
    const page = await get<AgentLog>(
      `/api/v1/agents/${encodeURIComponent(id)}/logs?after=${next}&limit=${PAGE}`,
    );
    lines.push(...page.items);
    next = page.next;
    if (page.items.length < PAGE) return { lines, next, isCut: false };
    if (lines.length >= MOST_LINES) return { lines, next, isCut: true };
  }
}

/** Puts events behind a log; each once, whatever came twice. */
export function withEvents(log: Log, events: readonly GodelEvent[]): Log {
  if (log.isCut) return log;
  const fresh = events.filter((event) => event.sequence > log.next);
  const last = fresh.at(-1);
  if (!last) return log;
  const lines = fresh.map(({ sequence, timestamp, type, payload }) => ({
    seq: sequence,
    at: timestamp,
    type,
    payload,
  }));
  return { ...log, lines: [...log.lines, ...(lines as AgentLine[])], next: last.sequence };
}

onLive({
  on: ["agent:*", "key:*", "bead:*"],
  patch: (client, events) => {
    for (const id of new Set(events.map((event) => refOf(event, "agentId")))) {
      if (id === undefined) continue;
      const theirs = events.filter((event) => refOf(event, "agentId") === id);
      client.setQueryData<Log>([KEY, id], (log) => (log ? withEvents(log, theirs) : log));
    }
  },
});
