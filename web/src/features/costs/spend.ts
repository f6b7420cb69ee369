import type { ModelCall, UsageReport, UsageTotals } from "../../api/types";
import type { Range } from "./range";

/** By what spending can be split, as the usage API has it. */
export const KINDS = [
  "provider",
  "model",
  "agent",
  "team",
  "bead",
  "convoy",
  "runtime",
  "project",
  "user",
  "kind",
] as const;
export type Kind = (typeof KINDS)[number];

/** Kinds that are known of the agent and not of a request; the server narrows by them. */
export const OF_AGENT = ["team", "runtime"] as const satisfies readonly Kind[];
type OwnKind = Exclude<Kind, (typeof OF_AGENT)[number]>;

export function isOfAgent(kind: Kind): kind is (typeof OF_AGENT)[number] {
  return (OF_AGENT as readonly Kind[]).includes(kind);
}

/** Whether what the sums have as a provider is none: machines, or storage. */
export function isNoModel(provider: string | undefined): boolean {
  return provider === "runtime" || provider === "storage";
}

/** What somebody spent in one part of a range. */
export interface Cell {
  bucket: string;
  /** The name or id of the provider, model and so on; empty if there was none. */
  key: string;
  totals: UsageTotals;
}

/** One line of the split: all parts of the range together. */
export interface Split {
  key: string;
  totals: UsageTotals;
}

const NOTHING: UsageTotals = {
  requests: 0,
  failed: 0,
  unpriced: 0,
  byLogin: 0,
  fromCache: 0,
  estimated: 0,
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  costMicros: 0,
  savedByCacheMicros: 0,
  savedByRoutingMicros: 0,
};

/** What of a report is in a range; with `without`, only what belongs to none of that kind. */
export function cellsOfReport(
  report: UsageReport,
  kind: Kind,
  { step, buckets }: Pick<Range, "step" | "buckets">,
  without?: Kind,
): Cell[] {
  const inRange = new Set(buckets);
  return report.rows
    .filter(({ group }) => without === undefined || group[without] === "")
    .map(({ group, ...totals }) => ({ bucket: group[step] ?? "", key: group[kind] ?? "", totals }))
    .filter(({ bucket }) => inRange.has(bucket));
}

/** Requests that belong to a range and are over: what is under way has no price yet. */
export function callsIn(
  calls: readonly ModelCall[],
  { start, end }: Pick<Range, "start" | "end">,
): ModelCall[] {
  return calls.filter(({ timestamp, outcome }) => {
    const at = Date.parse(timestamp);
    return outcome !== "open" && at >= start && at < end;
  });
}

/** Who spent how much, the most first. */
export function splitsOf(cells: readonly Cell[]): Split[] {
  const splits = new Map<string, Split>();
  for (const { key, totals } of cells) {
    splits.set(key, { key, totals: add(splits.get(key)?.totals ?? NOTHING, totals) });
  }
  return [...splits.values()].toSorted(
    (one, other) =>
      other.totals.costMicros - one.totals.costMicros || one.key.localeCompare(other.key),
  );
}

/** Everything together. */
export function sumOf(parts: readonly { totals: UsageTotals }[]): UsageTotals {
  return parts.reduce((sum, { totals }) => add(sum, totals), NOTHING);
}

/** How much of the input a cache knew, from 0 to 1; nothing if there was no input. */
export function cacheHit(
  tokens: Pick<UsageTotals, "inputTokens" | "cacheReadTokens" | "cacheWriteTokens">,
): number | undefined {
  const all = tokens.inputTokens + tokens.cacheReadTokens + tokens.cacheWriteTokens;
  return all === 0 ? undefined : tokens.cacheReadTokens / all;
}

/** Which provider, model and so on a request belongs to. */
export function keyOf(call: ModelCall, kind: OwnKind): string {
  const keys: Record<OwnKind, string | null | undefined> = {
    provider: call.provider,
    model: call.model,
    agent: call.agentId,
    bead: call.beadId,
    convoy: call.convoyId,
    project: call.projectId,
    user: call.userId,
    // What machines and storage cost is in no request.
    kind: "models",
  };
  return keys[kind] ?? "";
}

/** Whether money runs out, and when. */
export type Forecast =
  | { kind: "unlimited" }
  | { kind: "over" }
  | { kind: "lasts" }
  | { kind: "ends"; at: number };

const DAY_MS = 86_400_000;

/** When a budget is used up if spending goes on as it does now. */
export function forecast({
  capMicros,
  spentMicros,
  microsPerDay,
  endsAt,
  now,
}: {
  capMicros: number | undefined;
  spentMicros: number;
  microsPerDay: number;
  /** When the budget begins anew. */
  endsAt: number | undefined;
  now: number;
}): Forecast {
  if (capMicros === undefined) return { kind: "unlimited" };
  if (spentMicros >= capMicros) return { kind: "over" };
  if (microsPerDay <= 0) return { kind: "lasts" };
  const at = now + ((capMicros - spentMicros) / microsPerDay) * DAY_MS;
  return endsAt !== undefined && at >= endsAt ? { kind: "lasts" } : { kind: "ends", at };
}

/** What a day costs, from the days since the first one with any spending. */
export function burnRate(
  days: readonly Cell[],
  now: number,
): { microsPerDay: number; days: number } {
  const spent = days.filter(({ totals }) => totals.costMicros > 0);
  const first = spent.map(({ bucket }) => Date.parse(bucket)).toSorted((a, b) => a - b)[0];
  if (first === undefined) return { microsPerDay: 0, days: 0 };
  const length = Math.max(1, (now - first) / DAY_MS);
  return { microsPerDay: sumOf(spent).costMicros / length, days: Math.ceil(length) };
}

function add(one: UsageTotals, other: UsageTotals): UsageTotals {
  const names = Object.keys(NOTHING) as (keyof UsageTotals)[];
  return Object.fromEntries(
    names.map((name) => [name, (one[name] ?? 0) + (other[name] ?? 0)]),
  ) as unknown as UsageTotals;
}
