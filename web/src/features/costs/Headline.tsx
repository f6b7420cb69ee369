import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Budget, ModelCall, UsageReport } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { setParams } from "../../router/router";
import { ErrorPanel } from "../../ui/ErrorPanel";
import { money, plural } from "../../ui/format";
import { Meter } from "../../ui/Meter";
import { Bone, Late } from "../../ui/Skeleton";
import { stopsAt } from "../budgets/budgets";
import { budgetsQuery } from "../budgets/queries";
import { useProject } from "../projects/queries";
import styles from "./Headline.module.css";
import { costQueries } from "./queries";
import { bucketOf, type Zone } from "./range";
import { burnRate, callsIn, type Forecast, forecast, sumOf } from "./spend";

const HOUR_MS = 3_600_000;
/** The rate is taken from so many days. */
const RATE_DAYS = 7;

/** Now, today and this month, how fast it goes, and when the budget ends. */
export function Headline({ zone, now }: { zone: Zone; now: number }) {
  const { projectId } = useProject();
  const filter = { project: projectId };
  const today = bucketOf(now, "day", "utc");
  const month = `${today.slice(0, 8)}01`;
  const rateFrom = bucketOf(now - (RATE_DAYS - 1) * 24 * HOUR_MS, "day", "utc");
  const from = rateFrom < month ? rateFrom : month;
  const usage = useQuery(costQueries.usage({ from, to: today, by: ["day", "kind"], filter }));
  const here = bucketOf(now, "day", zone);
  const day = useQuery(costQueries.usage({ from: here, to: here, by: ["day"], filter, zone }));
  // The start of an hour is the same for an hour, and so is the query.
  const hourAgo = Math.floor(now / HOUR_MS) * HOUR_MS - HOUR_MS;
  const calls = useQuery(costQueries.calls({ since: hourAgo, filter }));
  const budgets = useQuery(budgetsQuery);
  const error = usage.error ?? calls.error ?? day.error;
  if (error && (!usage.data || !calls.data || !day.data)) {
    const retry = () => [usage, calls, day].map((query) => query.refetch());
    return <ErrorPanel what="The sums could not be loaded" error={error} onRetry={retry} />;
  }
  if (!usage.data || !calls.data || !day.data) return <Bones />;
  const data = { usage: usage.data, calls: calls.data.calls, budgets: budgets.data?.items ?? [] };
  const times = { zone, now, month, rateFrom, spentToday: day.data.total.costMicros };
  return <Tiles {...data} {...times} projectId={projectId} />;
}

interface TilesProps {
  usage: UsageReport;
  calls: readonly ModelCall[];
  budgets: readonly Budget[];
  projectId: string | undefined;
  zone: Zone;
  now: number;
  /** In millionths of a dollar, since midnight in the zone. */
  spentToday: number;
  /** Days in UTC, as budgets have them. */
  month: string;
  rateFrom: string;
}

function Tiles(props: TilesProps) {
  const { zone, now, month, rateFrom, spentToday } = props;
  const days = props.usage.rows.map(({ group, ...totals }) => ({
    bucket: group.day ?? "",
    key: group.kind ?? "",
    totals,
  }));
  // Budgets count models: nobody takes a machine away from under an agent.
  const ofModels = days.filter(({ key }) => key === "models");
  const since = (list: typeof days, first: string) => list.filter(({ bucket }) => bucket >= first);
  const recent = callsIn(props.calls, { start: now - HOUR_MS, end: now + HOUR_MS });
  const micros = (list: typeof recent) => list.reduce((sum, one) => sum + (one.costMicros ?? 0), 0);
  const spent = sumOf(since(days, month)).costMicros;
  const counted = sumOf(since(ofModels, month)).costMicros;
  const budget = monthly(props.budgets, props.projectId);
  const rate = burnRate(since(days, rateFrom), now);
  const end = forecast({
    capMicros: budget?.capMicros,
    spentMicros: counted,
    microsPerDay: burnRate(since(ofModels, rateFrom), now).microsPerDay,
    endsAt: budget?.endsAt ? Date.parse(budget.endsAt) : undefined,
    now,
  });
  return (
    <dl className={styles.tiles} aria-label="Spending at a glance">
      <Tile
        title="Last hour"
        value={money(micros(recent))}
        note={plural(recent.length, "request")}
      />
      <Tile
        title="Today"
        value={money(spentToday)}
        note={zone === "utc" ? "since midnight in UTC" : "since midnight here"}
      />
      <Tile
        title="This month"
        value={money(spent)}
        note={budget ? noteOf(budget, { spent, counted }) : "no monthly budget"}
      >
        {budget && (
          <Meter
            label="Budget of this month"
            value={counted}
            max={budget.capMicros}
            text={`${money(counted)} of ${money(budget.capMicros)}`}
          />
        )}
      </Tile>
      <Tile
        title="Burn rate"
        value={`${money(Math.round(rate.microsPerDay))} a day`}
        note={
          rate.days === 0
            ? `nothing spent in ${RATE_DAYS} days`
            : `over ${plural(Math.min(RATE_DAYS, rate.days), "day")}`
        }
      />
      <ForecastTile end={end} spent={counted} budget={budget} />
    </dl>
  );
}

/** How much of the budget that is; what it does not count is told apart. */
function noteOf({ capMicros }: Budget, { spent, counted }: { spent: number; counted: number }) {
  const of = `of ${money(capMicros)}, in UTC`;
  return spent === counted ? of : `${money(counted)} ${of}: models only`;
}

function ForecastTile({
  end,
  spent,
  budget,
}: {
  end: Forecast;
  spent: number;
  budget: Budget | undefined;
}) {
  if (end.kind === "unlimited" || !budget) {
    return (
      <Tile title="Forecast" value="No limit">
        <Guarded
          size="small"
          can="budget:update:team"
          onClick={() => setParams({ tab: "budgets", budget: "new" })}
        >
          Set a budget
        </Guarded>
      </Tile>
    );
  }
  if (end.kind === "over")
    return <Tile title="Forecast" value="Used up" note={then(budget, spent)} />;
  if (end.kind === "ends") {
    return <Tile title="Forecast" value={date(end.at)} note="then the budget is used up" />;
  }
  const { endsAt } = budget;
  const until = endsAt ? `until it begins anew, ${date(Date.parse(endsAt))}` : "at this rate";
  return <Tile title="Forecast" value="Lasts" note={until} />;
}

/** What becomes of requests now that a budget is used up. */
function then(budget: Budget, spent: number): string {
  const refusedFrom = stopsAt(budget);
  if (refusedFrom === undefined) return "it only tells";
  return spent < refusedFrom ? `refuses from ${money(refusedFrom)} on` : "requests are refused";
}

function Tile({
  title,
  value,
  note,
  children,
}: {
  title: string;
  value: string;
  note?: string;
  children?: ReactNode;
}) {
  return (
    <div className={styles.tile} data-tile={title}>
      <dt>{title}</dt>
      <dd className={styles.value}>{value}</dd>
      {note && <dd className={styles.note}>{note}</dd>}
      {children && <dd className={styles.more}>{children}</dd>}
    </div>
  );
}

function Bones() {
  return (
    <Late>
      <div className={styles.tiles}>
        {["a", "b", "c", "d", "e"].map((name) => (
          <div key={name} className={styles.tile}>
            <Bone width="40%" height={12} />
            <Bone width="60%" height={22} />
          </div>
        ))}
      </div>
    </Late>
  );
}

/** The monthly budget that limits what is looked at: of the project, else of the tenant. */
function monthly(budgets: readonly Budget[], projectId: string | undefined): Budget | undefined {
  const scope = projectId === undefined ? "tenant" : `project:${projectId}`;
  return budgets.find((budget) => budget.scope === scope && budget.period === "monthly");
}

function date(at: number): string {
  return new Date(at).toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
  });
}
