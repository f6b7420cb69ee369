import type { Budget } from "../../api/types";

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
