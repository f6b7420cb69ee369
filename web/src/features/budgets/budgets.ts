import type { Budget, UsageReport } from "../../api/types";
import type { Filter } from "../costs/queries";

/** Whose spending can be limited. */
export const SCOPES = ["tenant", "project", "user", "agent", "bead", "convoy", "token"] as const;
export type ScopeKind = (typeof SCOPES)[number];

export const PERIODS = ["monthly", "daily", "total"] as const;
export type Period = (typeof PERIODS)[number];

export const PERIOD_TITLES: Record<Period, string> = {
  monthly: "Each month",
  daily: "Each day",
  total: "In all",
};

/** `project:a1` as its two parts. */
export function scopeParts(scope: string): { kind: ScopeKind; name: string } {
  const [word = "", ...rest] = scope.split(":");
  const kind = SCOPES.find((one) => one === word) ?? "tenant";
  return { kind, name: rest.join(":") };
}

/** Millionths of a dollar from what a person typed; undefined if that is no amount. */
export function microsOf(text: string): number | undefined {
  const found = /^\$?(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text.trim());
  if (!found) return undefined;
  const micros = Number(found[1]) * 1_000_000 + Number((found[2] ?? "").padEnd(6, "0"));
  return micros > 0 ? micros : undefined;
}

/** An amount as a person would type it: `5`, `0.25`. */
export function amountOf(micros: number): string {
  return String(micros / 1_000_000);
}

/** The same on the command line. */
export function setCli(scope: string, period: Period, micros: number, warn: number): string {
  const each = { monthly: "/month", daily: "/day", total: "" }[period];
  const percent = warn === 80 ? "" : ` --warn ${warn}`;
  return `godel budget set ${scope} ${amountOf(micros)}${each}${percent}`;
}

/** What the usage API calls the same; tokens have no report of their own. */
export function filterOf(kind: ScopeKind, name: string): Filter | undefined {
  if (kind === "token" || (kind !== "tenant" && name === "")) return undefined;
  return kind === "tenant" ? {} : { [kind]: name };
}

/** What a limit would have done to what was spent: on how many days, and when first. */
export function simulate(
  report: Pick<UsageReport, "rows">,
  period: Period,
  capMicros: number,
): { stopped: string[]; days: number } {
  const days = report.rows
    .map(({ group, costMicros }) => ({ day: group.day ?? "", costMicros }))
    .toSorted((one, other) => one.day.localeCompare(other.day));
  const stopped: string[] = [];
  let sum = 0;
  let sumOf = "";
  for (const { day, costMicros } of days) {
    const epoch = period === "daily" ? day : period === "monthly" ? day.slice(0, 7) : "all";
    sum = epoch === sumOf ? sum + costMicros : costMicros;
    sumOf = epoch;
    if (sum > capMicros) stopped.push(day);
  }
  return { stopped, days: days.length };
}

/** Budgets in the order of their scopes, the widest first. */
export function inOrder(budgets: readonly Budget[]): Budget[] {
  const rank = (budget: Budget) => SCOPES.indexOf(scopeParts(budget.scope).kind);
  return budgets.toSorted(
    (one, other) =>
      rank(one) - rank(other) ||
      one.scope.localeCompare(other.scope) ||
      one.period.localeCompare(other.period),
  );
}
