import type { Budget, ModelCall, UsageReport } from "../../api/types";
import { money, plural } from "../../ui/format";
import { Meter } from "../../ui/Meter";
import { PartialBadge } from "../../ui/Status";
import { ForecastTile } from "./ForecastTile";
import styles from "./Headline.module.css";
import type { Zone } from "./range";
import { burnRate, callsIn, forecast, sumOf } from "./spend";
import { Tile } from "./Tile";

export const HOUR_MS = 3_600_000;
/** The rate is taken from so many days. */
export const RATE_DAYS = 7;

interface TilesProps {
  usage: UsageReport;
  calls: readonly ModelCall[];
  /** Whether there were more requests than were read. */
  isCut: boolean;
  budgets: readonly Budget[];
  projectId: string | undefined;
  zone: Zone;
  now: number;
  /** In millionths of a dollar, since midnight in the zone. */
  spentToday: number;
  /** Days in UTC, as budgets have them. */
  today: string;
  month: string;
  rateFrom: string;
}

/** The sums at a glance, beside the budgets that limit them. */
export function Tiles(props: TilesProps) {
  const { zone, now, today, month, rateFrom, spentToday } = props;
  const days = props.usage.rows.map(({ group, ...totals }) => ({
    bucket: group.day ?? "",
    key: group.kind ?? "",
    totals,
  }));
  // Budgets count models: nobody takes a machine away from under an agent.
  const ofModels = days.filter(({ key }) => key === "models");
  const since = (list: typeof days, first: string) => list.filter(({ bucket }) => bucket >= first);
  const sums = (first: string, budget: Budget | undefined): Sums => ({
    spent: sumOf(since(days, first)).costMicros,
    counted: sumOf(since(ofModels, first)).costMicros,
    budget,
  });
  const ofDay = sums(today, budgetOf(props, "daily"));
  const ofMonth = sums(month, budgetOf(props, "monthly"));
  const limited = ofMonth.budget ? ofMonth : ofDay;
  const rate = burnRate(since(days, rateFrom), now);
  const end = forecast({
    capMicros: limited.budget?.capMicros,
    spentMicros: limited.counted,
    microsPerDay: burnRate(since(ofModels, rateFrom), now).microsPerDay,
    endsAt: limited.budget?.endsAt ? Date.parse(limited.budget.endsAt) : undefined,
    now,
  });
  return (
    <dl className={styles.tiles} aria-label="Spending at a glance">
      <LastHour calls={props.calls} isCut={props.isCut} now={now} />
      <Tile title="Today" value={money(spentToday)} note={noteOfDay(ofDay, zone)}>
        <BudgetMeter label="Budget of today" {...ofDay} />
      </Tile>
      <Tile
        title="This month"
        value={money(ofMonth.spent)}
        note={ofMonth.budget ? noteOf(ofMonth.budget, ofMonth) : "no monthly budget"}
      >
        <BudgetMeter label="Budget of this month" {...ofMonth} />
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
      <ForecastTile end={end} spent={limited.counted} budget={limited.budget} />
    </dl>
  );
}

/** What was spent in a period of budgets, what of it they count, and the one that limits it. */
interface Sums {
  spent: number;
  counted: number;
  budget: Budget | undefined;
}

type Recent = Pick<TilesProps, "calls" | "isCut" | "now">;

function LastHour({ calls, isCut, now }: Recent) {
  const recent = callsIn(calls, { start: now - HOUR_MS, end: now + HOUR_MS });
  const micros = recent.reduce((sum, one) => sum + (one.costMicros ?? 0), 0);
  return (
    <Tile title="Last hour" value={money(micros)} note={plural(recent.length, "request")}>
      {isCut && <PartialBadge kind="limited" why={`Only the newest ${calls.length} are read`} />}
    </Tile>
  );
}

function BudgetMeter({ label, budget, counted }: Sums & { label: string }) {
  if (!budget) return null;
  const { capMicros } = budget;
  const text = `${money(counted)} of ${money(capMicros)}`;
  return <Meter label={label} value={counted} max={capMicros} text={text} />;
}

/** How much of the budget that is; what it does not count is told apart. */
function noteOf({ capMicros }: Budget, { spent, counted }: Pick<Sums, "spent" | "counted">) {
  const of = `of ${money(capMicros)}, in UTC`;
  return spent === counted ? of : `${money(counted)} ${of}: models only`;
}

/** The day of a budget is that of UTC, whichever the reader looks at. */
function noteOfDay({ budget, ...sums }: Sums, zone: Zone): string {
  if (zone === "utc") return budget ? noteOf(budget, sums) : "since midnight in UTC";
  const here = "since midnight here";
  if (!budget) return here;
  return `${here}; ${money(sums.counted)} of ${money(budget.capMicros)} in UTC`;
}

/** The budget of a period that limits what is looked at: of the project, else of the tenant. */
function budgetOf(
  { budgets, projectId }: Pick<TilesProps, "budgets" | "projectId">,
  period: "daily" | "monthly",
): Budget | undefined {
  const scope = projectId === undefined ? "tenant" : `project:${projectId}`;
  return budgets.find((budget) => budget.scope === scope && budget.period === period);
}
