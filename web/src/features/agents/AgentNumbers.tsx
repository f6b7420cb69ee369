import { queryOptions, useQuery } from "@tanstack/react-query";
import { get } from "../../api/client";
import type { AgentMetrics } from "../../api/types";
import { onLive } from "../../realtime/rules";
import { count } from "../../ui/format";
import styles from "./AgentsPage.module.css";

const metricsQuery = queryOptions({
  queryKey: ["agent-metrics"],
  queryFn: () => get("/api/v1/metrics/agents"),
});

onLive({
  on: ["agent:spawn", "agent:state", "agent:complete", "agent:kill", "agent:needs:person"],
  invalidate: () => [metricsQuery.queryKey],
  everyMs: 2_000,
});

/** How many run of those that can, how many wait for a person, and how often it went well. */
export function AgentNumbers() {
  const { data } = useQuery(metricsQuery);
  // Its line is there before it is known: the cards below must not move.
  return (
    <p className={styles.numbers} title="godel agent metrics" data-numbers>
      {data && wordsOf(data)}
    </p>
  );
}

function wordsOf({ running, capacity, waiting, states }: AgentMetrics): string {
  const success = successOf(states);
  const words = [
    `${count(running)} of ${count(capacity)} running`,
    waiting > 0 && `${count(waiting)} waiting for a person`,
    success !== undefined && `${success}% went well`,
  ];
  return words.filter(Boolean).join(" · ");
}

/** How many of a hundred that came to an end by themselves were done; who was ended by a person does not count. */
export function successOf(states: AgentMetrics["states"]): number | undefined {
  const of = (state: string) => Number(states[state] ?? 0);
  const all = of("completed") + of("failed");
  // Not all of them is not a hundred.
  return all === 0 ? undefined : Math.floor((100 * of("completed")) / all);
}
