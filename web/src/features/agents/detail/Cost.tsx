import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { Agent, ModelCall } from "../../../api/types";
import { Button } from "../../../ui/Button";
import { useCalm } from "../../../ui/calm";
import { Empty } from "../../../ui/Empty";
import { count, latency, money, plural } from "../../../ui/format";
import { Loaded } from "../../../ui/Loaded";
import { Money } from "../../../ui/Money";
import { NewRows } from "../../../ui/NewRows";
import { SkeletonRows } from "../../../ui/Skeleton";
import { PartialBadge } from "../../../ui/Status";
import { Time } from "../../../ui/Time";
import { usePresence } from "../../../ui/usePresence";
import { AgentSpend } from "../AgentStatus";
import { agentQueries } from "../queries";
import styles from "./Cost.module.css";

/** What the agent cost, request by request. */
export function Cost({ agent }: { agent: Agent }) {
  const query = useQuery(agentQueries.calls(agent.id));
  return (
    <Loaded query={query} what="The requests" skeleton={<SkeletonRows />}>
      {({ logs, total }) => {
        if (logs.length === 0) {
          return (
            <Empty
              icon="costs"
              why="It has asked no model yet."
              cli={`godel calls --agent ${agent.label}`}
            />
          );
        }
        const sum = logs.reduce((all, call) => all + (call.costMicros ?? 0), 0);
        return (
          <div className={styles.box}>
            <div className={styles.sum}>
              <AgentSpend agent={agent} />
              <span>
                {plural(total, "request")}, {money(sum)} in all
              </span>
              {logs.length < total && (
                <PartialBadge kind="limited" why={`Only the newest ${logs.length} are listed`} />
              )}
            </div>
            <Calls calls={logs} />
          </div>
        );
      }}
    </Loaded>
  );
}

const STEP = 150;
const keyOf = ({ id }: ModelCall) => id;

/** The requests, the newest first; new ones wait while somebody reads. */
function Calls({ calls }: { calls: readonly ModelCall[] }) {
  const box = useRef<HTMLDivElement>(null);
  const [most, setMost] = useState(STEP);
  const calm = useCalm(calls, keyOf, usePresence(box));
  const left = calm.rows.length - most;
  return (
    <>
      <div ref={box} className={styles.scroll}>
        <NewRows waiting={calm.waiting} noun="request" onShow={calm.show} />
        <table className={styles.calls} aria-label="Requests to models">
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">Model</th>
              <th scope="col">Input</th>
              <th scope="col">Cached</th>
              <th scope="col">Output</th>
              <th scope="col">Took</th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {calm.rows.slice(0, most).map((call) => (
              <tr key={call.id} data-failed={!call.success || undefined}>
                <td>
                  <Time at={call.timestamp} />
                </td>
                <td title={call.error ?? call.provider}>
                  {call.model}
                  {!call.success && <span className={styles.bad}> {call.outcome}</span>}
                </td>
                <td>{count(call.inputTokens + call.cacheWriteTokens)}</td>
                <td>{count(call.cacheReadTokens)}</td>
                <td>{count(call.outputTokens)}</td>
                <td>{typeof call.latency === "number" ? latency(call.latency) : ""}</td>
                <td>
                  <Money micros={call.costMicros} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {left > 0 && (
        <Button size="small" onClick={() => setMost(most + STEP)}>
          Show {count(Math.min(STEP, left))} earlier
        </Button>
      )}
    </>
  );
}
