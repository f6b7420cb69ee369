import type { Budget } from "../../api/types";
import { money, shellWord } from "../../ui/format";

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

/** From how many percent on a budget warns unless told otherwise. */
export const WARN_PERCENT = 80;
/** How many people are told of one budget at most. */
export const TOLD_MOST = 20;

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

/** What of a budget decides when requests are refused; a server that says nothing stops at the limit. */
type Stopping = Pick<Budget, "capMicros" | "hardStop" | "gracePercent">;

/** From how much spending on requests are refused; undefined if they never are. */
export function stopsAt({ capMicros, hardStop, gracePercent }: Stopping): number | undefined {
  if (hardStop === false) return undefined;
  const percent = 100 + (gracePercent ?? 0);
  // In two parts, for the product of a large limit has more digits than a number keeps.
  const whole = Math.floor(capMicros / 100) * percent;
  return whole + Math.floor(((capMicros % 100) * percent) / 100);
}

/** Whether requests are refused now. */
export function isUsedUp(budget: Stopping & Pick<Budget, "spentMicros">): boolean {
  const from = stopsAt(budget);
  return from !== undefined && budget.spentMicros >= from;
}

/** What becomes of requests when a limit is reached, as a sentence. */
export function tellStop(budget: Stopping): string {
  const from = stopsAt(budget);
  return from === undefined
    ? "Nothing is refused; it only tells."
    : `Requests are refused from ${money(from)} on.`;
}

/** What happens at the marks of a budget, and who hears of it: `warns at 80%, only tells, tells Ada`. */
export function marksOf(
  budget: Stopping & Pick<Budget, "warnPercent" | "tell">,
  nameOf: (user: string) => string,
): string {
  const { warnPercent, gracePercent = 0, tell = [] } = budget;
  const from = stopsAt(budget);
  const grace = gracePercent > 0 ? ` (${gracePercent}% grace)` : "";
  const stop = from === undefined ? "only tells" : `refuses from ${money(from)} on${grace}`;
  const told = tell.length > 0 ? tell.map(nameOf).join(", ") : "everybody who may know of it";
  return `warns at ${warnPercent}%, ${stop}, told: ${told}`;
}

/** What is set of a budget, in the words of the command line. */
export interface Setting {
  scope: string;
  period: Period;
  capMicros: number;
  warnPercent: number;
  hardStop: boolean;
  gracePercent: number;
  /** Names of those who are told; none stands for everybody. */
  tell: readonly string[];
}

/**
 * The same on the command line. What is as usual is not said, unless it was otherwise before: the
 * command leaves what it does not name as it was.
 */
export function setCli(setting: Setting, before?: Budget): string {
  const { scope, period, capMicros, warnPercent, hardStop, gracePercent, tell } = setting;
  const each = { monthly: "/month", daily: "/day", total: "" }[period];
  const differs = (value: number, usual: number, was: number | undefined) =>
    value !== usual || (was ?? usual) !== usual;
  const words = [`godel budget set ${shellWord(scope)} ${amountOf(capMicros)}${each}`];
  if (differs(warnPercent, WARN_PERCENT, before?.warnPercent)) words.push(`--warn ${warnPercent}`);
  if (!hardStop) words.push("--alert-only");
  else {
    if (before?.hardStop === false) words.push("--hard-stop");
    if (differs(gracePercent, 0, before?.gracePercent)) words.push(`--grace ${gracePercent}`);
  }
  for (const name of tell) words.push(`--tell ${shellWord(name)}`);
  if (tell.length === 0 && (before?.tell ?? []).length > 0) words.push("--tell-all");
  return words.join(" ");
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
