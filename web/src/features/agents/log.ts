import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { get } from "../../api/client";
import type { AgentLine, GodelEvent } from "../../api/types";
import { refOf } from "../../realtime/items";
import { onLive } from "../../realtime/rules";

/** What an agent said and did: all of it, or the newest part of it. */
export interface Log {
  lines: readonly AgentLine[];
  /** The position of the last line. */
  next: number;
  /** There are older lines, before this position. */
  older?: number | undefined;
}

/** So many lines are kept in the page; older ones go when new ones come. */
export const RING = 100_000;
const PAGE = 500;
/** So many of the newest lines are read at first. */
const FIRST = 2_000;
/** What one look at older lines brings. */
const OLDER_STEP = 1_000;
const KEY = "agent-log";

/** The log of an agent; what comes later is put behind it. */
export const logQuery = (id: string) =>
  queryOptions({ queryKey: [KEY, id], queryFn: () => readLog(id) });

async function readLog(id: string): Promise<Log> {
  const { lines, older } = await readBack(id, Number.MAX_SAFE_INTEGER, FIRST);
  return { lines, next: lines.at(-1)?.seq ?? 0, older };
}

/** Reads lines before a position, page by page; the oldest first. */
async function readBack(id: string, from: number, most: number, onRead?: (lines: number) => void) {
  const pages: AgentLine[][] = [];
  let count = 0;
  for (let before = from; ; ) {
    const path =
      `/api/v1/agents/${encodeURIComponent(id)}/logs?before=${before}&limit=${PAGE}` as const;
    const { items, previous } = await get(path);
    pages.unshift(items);
    count += items.length;
    onRead?.(count);
    if (previous == null || count >= most)
      return { lines: pages.flat(), older: previous ?? undefined };
    before = previous;
  }
}

/** All lines before a position, however many: for a file. The page itself keeps no more than it did. */
export async function linesBefore(
  id: string,
  position: number | undefined,
  onRead: (lines: number) => void,
): Promise<readonly AgentLine[]> {
  if (position === undefined) return [];
  return (await readBack(id, position, Number.POSITIVE_INFINITY, onRead)).lines;
}

function lineOf({ sequence, timestamp, type, payload }: GodelEvent): AgentLine {
  return { seq: sequence, at: timestamp, type, payload } as AgentLine;
}

/** Reads older lines of the log that is on the page. */
export async function loadOlder(client: QueryClient, id: string): Promise<void> {
  const log = client.getQueryData<Log>([KEY, id]);
  if (log?.older === undefined || log.lines.length >= RING) return;
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
  const lines = [...log.lines, ...fresh.map(lineOf)];
  const kept = lines.length > RING ? lines.slice(-RING) : lines;
  const older = kept === lines ? log.older : kept[0]?.seq;
  return { lines: kept, next: last.sequence, older };
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
