import { queryOptions } from "@tanstack/react-query";
import { get } from "../../api/client";
import type { AgentLine } from "../../api/types";

/** So many of the newest lines of an agent are looked through; a turn has a few of each kind. */
const LINES = 60;
/** So many agents are asked about at the same time: who looks at a thousand wants to do other things, too. */
const AT_ONCE = 2;

/**
 * The newest lines of one agent, the oldest first. It is asked for only where the newest events of
 * all agents say nothing of it, and only of agents that are drawn.
 */
export const recentQuery = (id: string) =>
  queryOptions({
    queryKey: ["agent-recent", id],
    queryFn: async ({ signal }): Promise<readonly AgentLine[]> => {
      const before = Number.MAX_SAFE_INTEGER;
      const path =
        `/api/v1/agents/${encodeURIComponent(id)}/logs?before=${before}&limit=${LINES}` as const;
      return (await inTurn(signal, () => get(path))).items;
    },
    // It is worth one try: the next event of the agent tells as much.
    retry: false,
  });

const waiting: (() => void)[] = [];
let running = 0;

/** Waits for a free place; who is out of sight by then needs none. */
async function inTurn<T>(signal: AbortSignal, read: () => Promise<T>): Promise<T> {
  if (running < AT_ONCE) running += 1;
  else await new Promise<void>((go) => waiting.push(go));
  try {
    signal.throwIfAborted();
    return await read();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}
