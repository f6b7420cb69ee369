import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { get } from "../../api/client";
import type { AgentLine, AgentLog, GodelEvent } from "../../api/types";
import { refOf } from "../../realtime/items";
import { onLive } from "../../realtime/rules";

/** What an agent said and did: all of it, or the newest part of it. */
export interface Log {
  lines: readonly AgentLine[];
  /** The position of the last line. */
  next: number;
  /** There are older lines, and this is how to get them. */
  older?: string | undefined;
}

const PAGE = 500;
/** A log of more lines is read from its end, and the rest when somebody wants it. */
const MOST_WHOLE = 2_000;
/** What one look at older lines brings. */
const OLDER_STEP = 500;
const EVENTS_PAGE = 100;
const KEY = "agent-log";

/** The log of an agent; what comes later is put behind it. */
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
    if (page.items.length < PAGE) return { lines, next };
    if (lines.length >= MOST_WHOLE) return readEnd(id);
  }
}

/** The newest lines of a long log. */
async function readEnd(id: string): Promise<Log> {
  const { lines, older } = await readBack(id, undefined, MOST_WHOLE);
  return { lines, next: lines.at(-1)?.seq ?? 0, older };
}

/** Reads events of an agent backwards, and returns them as its log has them: the oldest first. */
async function readBack(id: string, from: string | undefined, most: number) {
  const fields = new URLSearchParams({
    limit: String(EVENTS_PAGE),
    filter: JSON.stringify({ agentId: id }),
  });
  const found: GodelEvent[] = [];
  for (let cursor = from; ; ) {
    if (cursor) fields.set("cursor", cursor);
    const { items, pagination } = await get<EventPage>(`/api/v1/events?${fields}`);
    found.push(...items);
    cursor = (pagination.hasMore && pagination.cursor) || undefined;
    if (cursor === undefined || found.length >= most) {
      return { lines: found.toReversed().map(lineOf), older: cursor };
    }
  }
}

interface EventPage {
  items: GodelEvent[];
  pagination: { cursor?: string | null; hasMore: boolean };
}

function lineOf({ sequence, timestamp, type, payload }: GodelEvent): AgentLine {
  return { seq: sequence, at: timestamp, type, payload } as AgentLine;
}

/** Reads older lines of the log that is on the page. */
export async function loadOlder(client: QueryClient, id: string): Promise<void> {
  const log = client.getQueryData<Log>([KEY, id]);
  if (log?.older === undefined) return;
  const { lines, older } = await readBack(id, log.older, OLDER_STEP);
  client.setQueryData<Log>([KEY, id], (now) => {
    // Meanwhile new lines may have come, or others asked for the same.
    if (!now || now.older !== log.older) return now;
    return { ...now, lines: [...lines, ...now.lines], older };
  });
}

/** Puts events behind a log; each once, whatever came twice. */
export function withEvents(log: Log, events: readonly GodelEvent[]): Log {
  const fresh = events.filter((event) => event.sequence > log.next);
  const last = fresh.at(-1);
  if (!last) return log;
  return { ...log, lines: [...log.lines, ...fresh.map(lineOf)], next: last.sequence };
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
