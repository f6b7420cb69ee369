import type { BudgetStop, BudgetTrial } from "../../api/types";
import { money, plural, shellWord } from "../../ui/format";
import { amountOf, type Period } from "./budgets";

/** So far back a limit can be tried. */
export const DAYS = ["1", "7", "31"] as const;
export type Days = (typeof DAYS)[number];

const DAY_MS = 86_400_000;
const WEEK_MS = 6 * DAY_MS;

/** `Mon 10:32`; what is longer ago has its date as well. */
export function momentTitle(at: string, now: number, timeZone?: string): string {
  const isNear = now - Date.parse(at) < WEEK_MS;
  const options: Intl.DateTimeFormatOptions = {
    weekday: "short",
    ...(!isNear && { day: "numeric", month: "short" }),
    hour: "2-digit",
    minute: "2-digit",
    ...(timeZone !== undefined && { timeZone }),
  };
  return new Intl.DateTimeFormat("en-GB", options).format(new Date(at)).replace(/,? at |, /g, " ");
}

/** How many agents would have been stopped; of those that are only counted, at least so many. */
function agentsOf({ stops }: BudgetTrial): { count: number; isAtLeast: boolean } {
  const named = new Set(stops.flatMap(({ agents }) => agents));
  const most = Math.max(0, ...stops.map(({ agentCount }) => agentCount));
  const isAtLeast = stops.some(({ agents, agentCount }) => agentCount > agents.length);
  return { count: Math.max(named.size, most), isAtLeast };
}

/** What a limit would have done, as a sentence. */
export function tellTrial(trial: BudgetTrial, when: (at: string) => string): string {
  const days = Math.round((Date.parse(trial.to) - Date.parse(trial.from)) / DAY_MS);
  const past = `In the past ${days === 1 ? "day" : `${days} days`} this would have`;
  const [first] = trial.stops;
  if (!first) {
    const spent = trial.spentMicros > 0 ? `${money(trial.spentMicros)} were` : "nothing was";
    return `${past} stopped nothing: ${spent} spent.`;
  }
  const sum = (of: (stop: BudgetStop) => number) =>
    trial.stops.reduce((all, stop) => all + of(stop), 0);
  const refused = `${plural(
    sum((stop) => stop.requests),
    "request",
  )} for ${money(sum((stop) => stop.costMicros))}`;
  const { count, isAtLeast } = agentsOf(trial);
  if (count === 0) return `${past} refused ${refused}, first on ${when(first.at)}.`;
  const agents = `${isAtLeast ? "at least " : ""}${plural(count, "agent")}`;
  return `${past} stopped ${agents}: ${refused} refused, first on ${when(first.at)}.`;
}

/** The same on the command line. */
export function tryCli(scope: string, period: Period, micros: number, days: Days): string {
  const each = { monthly: "/month", daily: "/day", total: "" }[period];
  return `godel budget try ${shellWord(scope)} ${amountOf(micros)}${each} --days ${days}`;
}
