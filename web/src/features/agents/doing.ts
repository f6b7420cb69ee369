import { queryOptions, useQuery } from "@tanstack/react-query";
import { list } from "../../api/list";
import type { Agent, AgentLine, GodelEvent } from "../../api/types";
import { refOf } from "../../realtime/items";
import { onLive } from "../../realtime/rules";
import { asText } from "./lines";
import { recentQuery } from "./recent";
import { isAlive } from "./views";

const KEY = ["agent-doing"] as const;
const MOST_CHARS = 140;
/** What counts as doing something. */
const DEEDS = ["agent:tool:call", "agent:text", "agent:commit"];
/** So many of the newest are read for all agents together; who was silent longer is asked about alone. */
const MOST_EVENTS = 100;

/** What an agent did last, and where that stands in the log. */
interface Deed {
  seq: number;
  text: string;
}

type Doing = Readonly<Record<string, Deed>>;

/** Puts events over what is known; whatever comes late does not replace what is newer. */
export function withDeeds(doing: Doing, events: readonly GodelEvent[]): Doing {
  const next: Record<string, Deed> = { ...doing };
  for (const event of events) {
    const id = refOf(event, "agentId");
    if (id === undefined || (next[id]?.seq ?? -1) > event.sequence) continue;
    const line = { ...event, seq: event.sequence, at: event.timestamp } as AgentLine;
    next[id] = { seq: event.sequence, text: textOf(line) };
  }
  return next;
}

const textOf = (line: AgentLine) => asText(line).slice(0, MOST_CHARS);

/** What each agent did last; one question for all of them, and events from then on. */
const doingQuery = queryOptions({
  queryKey: KEY,
  queryFn: async ({ client }): Promise<Doing> => {
    const { items } = await list("/api/v1/events", { filter: { type: DEEDS }, most: MOST_EVENTS });
    // What events told meanwhile is newer than the answer.
    return withDeeds(client.getQueryData<Doing>(KEY) ?? {}, items);
  },
});

onLive({
  on: DEEDS,
  patch: (client, events) =>
    client.setQueryData<Doing>(KEY, (doing) => doing && withDeeds(doing, events)),
});

/** What an agent that works did last: as events tell it, or as its own log has it. */
export function useDoing(agent: Agent): string | undefined {
  const isBusy = isAlive(agent) && agent.view === "busy";
  const { data: told } = useQuery({
    ...doingQuery,
    enabled: isBusy,
    // Not heard of is an answer, not yet asked is none.
    select: (doing) => doing[agent.id]?.text ?? null,
  });
  const { data: own } = useQuery({
    ...recentQuery(agent.id),
    enabled: isBusy && told === null,
    select: lastDeed,
  });
  return isBusy ? (told ?? own) : undefined;
}

function lastDeed(lines: readonly AgentLine[]): string | undefined {
  const last = lines.findLast(({ type }) => DEEDS.includes(type));
  return last && textOf(last);
}
