import { queryOptions, useQuery } from "@tanstack/react-query";
import { list } from "../../../api/list";
import type { Agent, GodelEvent } from "../../../api/types";
import { refOf } from "../../../realtime/items";
import { onLive } from "../../../realtime/rules";
import { useCan } from "../../../roles/session";
import { useNow } from "../../../ui/useNow";
import { costQueries } from "../../costs/queries";
import { bucketOf } from "../../costs/range";
import { recentQuery } from "../recent";
import { isAlive } from "../views";
import { contextIn, type Held, historyOf, type InMind, inMindOf, tellsContext } from "./usage";

/** So many of the newest events are looked at for all; an agent that was silent for longer is asked about alone. */
const MOST_EVENTS = 300;
const MINUTE_MS = 60_000;
/** Events that tell how much an agent has in mind. */
const TELLING = ["agent:usage", "agent:context"];

type Newest = ReadonlyMap<string, InMind>;

/** What each agent has in mind; one question for all of them, and events from then on. */
const newestQuery = queryOptions({
  queryKey: ["agent-context"],
  queryFn: async () => {
    const { items } = await list("/api/v1/events", {
      filter: { type: TELLING },
      most: MOST_EVENTS,
    });
    return withNews(new Map(), items.toReversed());
  },
});

/** Puts events over what is known, the oldest first. */
export function withNews(known: Newest, events: readonly GodelEvent[]): Newest {
  const next = new Map(known);
  for (const event of events) {
    const id = refOf(event, "agentId");
    const more = inMindOf(event);
    if (id !== undefined && more) next.set(id, { ...next.get(id), ...more });
  }
  return next;
}

onLive({
  on: TELLING,
  patch: (client, events) =>
    client.setQueryData(newestQuery.queryKey, (known) => known && withNews(known, events)),
});

/** What an agent had in mind last, if it tells: as events do, or as its own log has it. */
export function useLastContext(agent: Agent): Held | undefined {
  const isTold = tellsContext(agent);
  const { harness } = agent;
  const { data } = useQuery({
    ...newestQuery,
    // Not heard of is an answer, not yet asked is none.
    select: (newest) => contextIn({ harness }, newest.get(agent.id) ?? {}) ?? null,
  });
  const { data: own } = useQuery({
    ...recentQuery(agent.id),
    enabled: isTold && data === null && isAlive(agent),
    select: (lines) => contextIn({ harness }, historyOf(lines).mind),
  });
  return isTold ? (data ?? own) : undefined;
}

/** What an agent cost since midnight in UTC, in millionths of a dollar; one question for all agents. */
export function useCostToday(agent: Agent): number | undefined {
  const isAllowed = useCan("cost:read:team");
  const day = bucketOf(useNow(MINUTE_MS), "day", "utc");
  const { data } = useQuery({
    ...costQueries.usage({ from: day, to: day, by: ["agent"], filter: {} }),
    enabled: isAllowed,
    select: ({ rows }) =>
      rows
        .filter(({ group }) => group.agent === agent.id)
        .reduce((sum, { costMicros }) => sum + costMicros, 0),
  });
  return data;
}
