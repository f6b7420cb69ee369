import { useQuery } from "@tanstack/react-query";
import { memo, useMemo, useState } from "react";
import type { Convoy } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { duration, money, plural } from "../../ui/format";
import { Meter, ProgressRing } from "../../ui/Meter";
import { Badge } from "../../ui/Status";
import { USUAL_RUNTIME } from "../agents/spawn/form";
import { type BeadGraph, minutesOf } from "../beads/graph";
import { beadQueries } from "../beads/queries";
import styles from "./Board.module.css";
import { ConvoyMenu } from "./ConvoyMenu";
import { expectedCost, meanCostOf } from "./costs";
import { EtaFact } from "./EtaFact";
import type { Past } from "./past";
import { convoyQueries, useStopConvoy } from "./queries";
import { StartConvoyDrawer } from "./StartConvoyDrawer";

interface ConvoyFactsProps {
  convoy: Convoy;
  graph: BeadGraph;
}

interface WithPast {
  /** How long finished beads took; `undefined` while that is read, `null` if it cannot be. */
  past: Past | null | undefined;
}

/** How far a convoy is, when it is over, what it cost, its longest chain, and what to do with it. */
export const ConvoyFacts = memo(Facts);

function Facts({ convoy, graph, past }: ConvoyFactsProps & WithPast) {
  const [isStarting, setStarting] = useState(false);
  const { data: run, isError: isRunUnknown } = useQuery(convoyQueries.run(convoy));
  const stop = useStopConvoy(convoy);
  const beads = convoy.beads.flatMap((id) => graph.byId.get(id) ?? []);
  const done = beads.filter(({ status }) => status === "done").length;
  const isRunning = run?.state === "running";
  const nothingLeft = beads.length === 0 ? "It has no beads." : "All its beads are done.";
  return (
    <div className={styles.facts}>
      <ProgressRing percent={beads.length === 0 ? 0 : (100 * done) / beads.length} />
      <span className={styles.soft}>
        {done} of {beads.length} done
      </span>
      <EtaFact convoy={convoy} graph={graph} past={past} run={isRunUnknown ? null : run} />
      <Spend convoy={convoy} graph={graph} limit={run?.budgetMicros ?? undefined} />
      <Chain convoy={convoy} graph={graph} />
      {run && (
        <Badge
          tone={isRunning ? "info" : "plain"}
          icon={isRunning ? "play" : "pause"}
          {...(run.note && { title: run.note })}
        >
          {isRunning ? `running, ${plural(run.running, "agent")}` : run.state}
        </Badge>
      )}
      <span className={styles.laneActs}>
        {isRunning ? (
          <Guarded
            size="small"
            can="agent:create:own"
            cli={`godel convoy stop ${convoy.id}`}
            aria-label={`Stop ${convoy.name}`}
            onClick={() => stop.mutate()}
          >
            Stop
          </Guarded>
        ) : (
          <Guarded
            size="small"
            can="agent:create:own"
            cli={`godel convoy start ${convoy.id}`}
            refused={done === beads.length ? nothingLeft : undefined}
            aria-label={`Start ${convoy.name}`}
            onClick={() => setStarting(true)}
          >
            Start
          </Guarded>
        )}
        <ConvoyMenu convoy={convoy} />
      </span>
      {isStarting && (
        <StartConvoyDrawer
          convoy={convoy}
          graph={graph}
          past={past}
          runtime={run?.runtime && run.runtime !== USUAL_RUNTIME ? run.runtime : ""}
          onClose={() => setStarting(false)}
        />
      )}
    </div>
  );
}

/** What was spent, of what its run or its beads may cost; without such a limit, of what it probably will. */
function Spend({ convoy, graph, limit }: ConvoyFactsProps & { limit: number | undefined }) {
  const { data: costs, isError } = useQuery(beadQueries.costs());
  const mean = useMemo(() => meanCostOf(graph.byId, costs), [graph, costs]);
  if (!costs) return isError ? null : <span className={styles.spend} />;
  const beads = convoy.beads.flatMap((id) => graph.byId.get(id) ?? []);
  const spent = convoy.beads.reduce((sum, id) => sum + (costs.get(id) ?? 0), 0);
  const max = limit ?? beads.reduce((sum, { budget }) => sum + (budget ?? 0), 0);
  const isOver = beads.every(({ status }) => status === "done");
  const expected = mean && !isOver ? expectedCost(beads, costs, mean) : undefined;
  const text = max > 0 ? `${money(spent)} of ${money(max)}` : sayExpected(spent, expected);
  const title =
    mean &&
    expected !== undefined &&
    `Probably ${money(expected)} in all: ${plural(mean.beads, "finished bead")} cost ${money(mean.micros)} on average.`;
  return (
    <span className={styles.spend} {...(title && { title })}>
      <span className="tabular">{text}</span>
      {max > 0 && <Meter label={`Spend of ${convoy.name}`} value={spent} max={max} text={text} />}
    </span>
  );
}

function sayExpected(spent: number, expected: number | undefined): string {
  return expected === undefined
    ? `${money(spent)} spent`
    : `${money(spent)} of about ${money(expected)}`;
}

/** The beads that decide when it is over. */
function Chain({ convoy, graph }: ConvoyFactsProps) {
  const chain = graph.longestChain(convoy.beads.flatMap((id) => graph.byId.get(id) ?? []));
  if (chain.length === 0) return null;
  const minutes = minutesOf(chain);
  return (
    <span className={styles.soft} title={chain.map(({ title }) => title).join(" → ")}>
      longest chain: {plural(chain.length, "bead")}
      {minutes > 0 && `, ${duration(minutes * 60)} estimated`}
    </span>
  );
}
