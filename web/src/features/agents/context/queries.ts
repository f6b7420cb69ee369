import { queryOptions, useQuery } from "@tanstack/react-query";
import { list } from "../../../api/list";
import type { Agent, AgentLine, GodelEvent } from "../../../api/types";
import { refOf } from "../../../realtime/items";
import { onLive } from "../../../realtime/rules";
import { useCan } from "../../../roles/session";
import { useNow } from "../../../ui/useNow";
import { costQueries } from "../../costs/queries";
import { bucketOf } from "../../costs/range";
import { recentQuery } from "../recent";
import { isAlive } from "../views";
import { historyOf, type Tokens, tellsRequests, tokensOf } from "./usage";

/** So many of the newest events are looked at for all; an agent that was silent for longer is asked about alone. */
const MOST_EVENTS = 300;
const MINUTE_MS = 60_000;

type Newest = ReadonlyMap<string, Tokens>;

/** What each agent used in its last request; one question for all of them, and events from then on. */
const newestQuery = queryOptions({
  queryKey: ["agent-context"],
  queryFn: async () => {
    const { items } = await list("/api/v1/events", {
      filter: { type: "agent:usage" },
      most: MOST_EVENTS,
    });
    return withUsage(new Map(), items.toReversed());
  },
});

/** Puts events over what is known, the oldest first. */
export function withUsage(known: Newest, events: readonly GodelEvent[]): Newest {
  const next = new Map(known);
  for (const event of events) {
    const id = refOf(event, "agentId");
    const tokens = tokensOf(event.payload);
    if (id !== undefined && tokens) next.set(id, tokens);
  }
  return next;
}

onLive({
  on: "agent:usage",
  patch: (client, events) =>
    client.setQueryData(newestQuery.queryKey, (known) => known && withUsage(known, events)),
});

/** The tokens of the last request of an agent, if it tells them: as events do, or as its own log has it. */
export function useLastTokens(agent: Agent): Tokens | undefined {
  const isTold = tellsRequests(agent);
  const { data } = useQuery({
    ...newestQuery,
    // Not heard of is an answer, not yet asked is none.
    select: (newest) => newest.get(agent.id) ?? null,
  });
  const { data: own } = useQuery({
    ...recentQuery(agent.id),
    enabled: isTold && data === null && isAlive(agent),
    select: lastTokens,
  });
  return isTold ? (data ?? own) : undefined;
}

const lastTokens = (lines: readonly AgentLine[]) => historyOf(lines).steps.at(-1)?.tokens;

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
