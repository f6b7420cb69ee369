import { useQuery } from "@tanstack/react-query";
import { useAction } from "../../actions/actions";
import { BACK } from "../../actions/common";
import type { ModelCall } from "../../api/types";
import { Cli } from "../../ui/Cli";
import { SidePanel } from "../../ui/Drawer";
import { type Fact, Facts, type FactValue } from "../../ui/Facts";
import { count, latency } from "../../ui/format";
import { Loaded } from "../../ui/Loaded";
import panel from "../../ui/Panel.module.css";
import { SkeletonRows } from "../../ui/Skeleton";
import styles from "./CallPeek.module.css";
import { CallPrice, Outcome } from "./CallTable";
import { costQueries } from "./queries";
import { percent } from "./SplitTable";
import { tellPrice, tellSaving } from "./savings";
import { cacheHit } from "./spend";
import { useTitles } from "./useSpend";

/** One request: what it used, what it cost, for whom, and how it went. */
export function CallPeek({ id, onClose }: { id: string; onClose: () => void }) {
  useAction(BACK, onClose, { title: "Close the panel" });
  const query = useQuery(costQueries.call(id));
  return (
    <SidePanel label="One request" head={query.data?.model ?? "Request"} onClose={onClose}>
      <Loaded query={query} what="The request" skeleton={<SkeletonRows rows={6} />}>
        {(call) => <Details call={call} />}
      </Loaded>
    </SidePanel>
  );
}

function Details({ call }: { call: ModelCall }) {
  const titles = useTitles();
  const micros = call.costMicros ?? undefined;
  const idOf = (id: string | null | undefined) => (id ? { id } : undefined);
  return (
    <div className={panel.stack}>
      <p className={styles.line}>
        <Outcome call={call} />
        <CallPrice call={call} />
      </p>
      {call.error && <p className={panel.bad}>{call.error}</p>}
      <section aria-label="What it used">
        <h3 className={panel.head}>What it used</h3>
        <Facts
          facts={known([
            ["New input", `${count(call.inputTokens)} tokens`],
            ["From cache", `${count(call.cacheReadTokens)} tokens`],
            ["To cache", `${count(call.cacheWriteTokens)} tokens`],
            ["Cache hit", percent(cacheHit(call))],
            ["Output", `${count(call.outputTokens)} tokens`],
            ["Reasoning", call.reasoningTokens > 0 ? `${count(call.reasoningTokens)} tokens` : ""],
            [call.estimated ? "Estimate" : "Price", micros === undefined ? "" : { micros }],
            ["Price version", call.price],
            ["Saved by cache", tellSaving(call.savedByCacheMicros)],
            ["Saved by routing", tellSaving(call.savedByRoutingMicros)],
          ])}
        />
        {call.price && <p className={styles.note}>Price version: {tellPrice(call.price)}</p>}
      </section>
      <section aria-label="Whose it was">
        <h3 className={panel.head}>Whose it was</h3>
        <Facts
          facts={known([
            ["Agent", idOf(call.agentId)],
            ["Bead", idOf(call.beadId)],
            ["Convoy", idOf(call.convoyId)],
            ["Project", call.projectId && titles("project", call.projectId)],
            ["Person", titles("user", call.userId)],
          ])}
        />
      </section>
      <section aria-label="How it went">
        <h3 className={panel.head}>How it went</h3>
        <Facts
          facts={known([
            ["When", { at: call.timestamp }],
            ["Provider", call.provider],
            ["Asked for", call.asked],
            ["Attempt", String(call.attempt)],
            ["Status", call.status === null ? "" : String(call.status ?? "")],
            ["First byte", call.firstByteMs ? latency(call.firstByteMs) : ""],
            ["In all", call.latency ? latency(call.latency) : ""],
          ])}
        />
      </section>
      <Cli command={`godel calls show ${call.id}`} />
    </div>
  );
}

/** What is not known is left out. */
function known(facts: readonly (readonly [string, FactValue | null | undefined])[]): Fact[] {
  return facts.filter((fact): fact is Fact => Boolean(fact[1]));
}
