import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { BudgetStop, TryBudget } from "../../api/types";
import { Link } from "../../router/Link";
import { Cli } from "../../ui/Cli";
import { fullTime, money, plural } from "../../ui/format";
import { Sentence } from "../../ui/Sentence";
import { PartialBadge } from "../../ui/Status";
import { Segmented } from "../../ui/Tabs";
import { useNow } from "../../ui/useNow";
import { agentQueries } from "../agents/queries";
import { type Period, stopsAt } from "./budgets";
import { trialQuery } from "./queries";
import styles from "./Trial.module.css";
import { DAYS, type Days, momentTitle, tellTrial, tryCli } from "./trial";

/** Who types on changes their mind: nothing is asked until they pause. */
const PAUSE_MS = 400;
const MINUTE_MS = 60_000;

interface TrialProps {
  scope: string;
  period: Period;
  capMicros: number;
  hardStop: boolean;
  gracePercent: number;
}

/** What a limit would have done, had it been there in the past days. */
export function Trial({ scope, period, ...limit }: TrialProps) {
  const refusedFrom = stopsAt(limit);
  return (
    <section className={styles.trial} aria-label="What it would have done">
      {refusedFrom === undefined ? (
        <>
          <h3>Tried on the past</h3>
          <p role="status">This would have stopped nothing: it only tells.</p>
        </>
      ) : (
        <Tried scope={scope} period={period} refusedFrom={refusedFrom} />
      )}
    </section>
  );
}

/** The server tries a limit without a grace, so it is asked for where requests are refused. */
function Tried({
  scope,
  period,
  refusedFrom,
}: Pick<TrialProps, "scope" | "period"> & { refusedFrom: number }) {
  const [days, setDays] = useState<Days>("7");
  const wanted = { scope, period, capMicros: refusedFrom, pastDays: Number(days) };
  const { paused, isPaused } = usePaused(wanted);
  const { data, error, isFetching } = useQuery(trialQuery(paused));
  const now = useNow(MINUTE_MS);
  const when = (at: string) => momentTitle(at, now);
  return (
    <>
      <div className={styles.head}>
        <h3>Tried on the past</h3>
        <Segmented label="How far back" options={CHOICES} value={days} onChange={setDays} />
      </div>
      <div className={styles.answer} aria-busy={isFetching || !isPaused} role="status">
        {data ? (
          <p>
            {tellTrial(data, when)}{" "}
            {!data.isWhole && (
              <PartialBadge kind="limited" why="There were too many requests to look at all" />
            )}
          </p>
        ) : error ? (
          <p>
            It cannot be tried: <Sentence text={error.message} />
          </p>
        ) : (
          <p className={styles.wait}>Looking at what was spent…</p>
        )}
      </div>
      {data && data.stops.length > 0 && <Stops stops={data.stops} when={when} />}
      <Cli command={tryCli(scope, period, refusedFrom, days)} />
    </>
  );
}

const CHOICES = DAYS.map((id) => ({ id, title: id === "1" ? "1 day" : `${id} days` }));

/** Each period in which the limit was reached: when, how much, and whom it stopped. */
function Stops({ stops, when }: { stops: readonly BudgetStop[]; when: (at: string) => string }) {
  const isAsked = stops.some(({ agents }) => agents.length > 0);
  const { data } = useQuery({ ...agentQueries.all(), enabled: isAsked });
  const idOf = (name: string) =>
    data?.items.find(({ id, label }) => id === name || label === name)?.id;
  return (
    <ul className={styles.stops} aria-label="When it would have stopped something">
      {stops.map(({ at, requests, costMicros, agents, agentCount }) => (
        <li key={at}>
          <time dateTime={at} title={fullTime(at)}>
            {when(at)}
          </time>
          <span className="tabular">
            {plural(requests, "request")}, {money(costMicros)}
          </span>
          <span className={styles.agents}>
            {agents.map((name) => (
              <Agent key={name} name={name} id={idOf(name)} />
            ))}
            {agentCount > agents.length && `and ${agentCount - agents.length} more`}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** An agent that is gone, or of another program, is only a name. */
function Agent({ name, id }: { name: string; id: string | undefined }) {
  if (id === undefined) return <span>{name}</span>;
  return <Link to={`/agents/${encodeURIComponent(id)}`}>{name}</Link>;
}

/** What was wanted when nothing changed for a moment. */
function usePaused(wanted: TryBudget): { paused: TryBudget; isPaused: boolean } {
  const [paused, setPaused] = useState(wanted);
  const text = JSON.stringify(wanted);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(JSON.parse(text)), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return { paused, isPaused: JSON.stringify(paused) === text };
}
