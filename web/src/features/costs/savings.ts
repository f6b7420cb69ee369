import type { UsageTotals } from "../../api/types";
import { count, dollars, money } from "../../ui/format";
import type { Figure } from "./Figures";

/** What was not spent, in millionths of a dollar; less than nothing where it cost more. */
export type Saved = Pick<UsageTotals, "savedByCacheMicros" | "savedByRoutingMicros">;

/** Both together. */
export function savedOf({ savedByCacheMicros = 0, savedByRoutingMicros = 0 }: Saved): number {
  return savedByCacheMicros + savedByRoutingMicros;
}

/** One saving to the last digit: `$0.000185`, or `cost $0.000750 more`; nothing if there is none. */
export function tellSaving(micros = 0): string {
  if (micros === 0) return "";
  return micros > 0 ? `$${dollars(micros)}` : `cost $${dollars(-micros)} more`;
}

/** Of what a sum of savings is made, to the last digit. */
export function tellParts({ savedByCacheMicros, savedByRoutingMicros }: Saved): string {
  const part = (micros: number | undefined) => tellSaving(micros) || "nothing";
  return `By caches: ${part(savedByCacheMicros)}; by routing: ${part(savedByRoutingMicros)}`;
}

/** What caches and routing saved, and how that is reckoned. */
export function savingsOf(totals: UsageTotals): Figure[] {
  const { savedByCacheMicros: cache = 0, savedByRoutingMicros: routing = 0 } = totals;
  const isCached = totals.cacheReadTokens + totals.cacheWriteTokens + (totals.fromCache ?? 0) > 0;
  const noCache = isCached
    ? "What was read from caches saved as much as writing to them cost."
    : "No cache was used in this time.";
  const cacheCost = "What was written to caches cost more than what was read from them saved.";
  const byCache =
    "Input that a provider's cache knew costs less, and an answer that is given again costs nothing. What it cost to write to caches is taken off.";
  const byRouting =
    "What the model that would have been asked first would have cost, less what the one cost that was chosen by its price.";
  return [
    {
      ...{ id: "cache", title: "Saved by caches", micros: cache, value: amount(cache) },
      why: cache === 0 ? noCache : cache < 0 ? cacheCost : exactly(cache, byCache),
    },
    {
      ...{ id: "routing", title: "Saved by routing", micros: routing, value: amount(routing) },
      why:
        routing === 0
          ? "No model was chosen by its price in this time."
          : exactly(routing, byRouting),
    },
  ];
}

/** An amount to the last digit, and how it came about. */
export function exactly(micros: number, why: string): string {
  return micros > 0 ? `$${dollars(micros)}. ${why}` : why;
}

function amount(micros: number): string {
  if (micros === 0) return "-";
  return micros > 0 ? money(micros) : `nothing, it cost ${money(-micros)} more`;
}

/** A price as the list of models names it, such as `2025-09-29 $3/$15 above 200000`. */
const PRICE = /^(?:(\d{4}-\d\d-\d\d) )?\$([\d.]+)\/\$([\d.]+)(?: above (\d+))?$/;

/** What the name of a price means. */
export function tellPrice(name: string): string {
  const [, day, input, output, above] = PRICE.exec(name) ?? [];
  if (input === undefined || output === undefined) {
    return "Dollars for a million tokens of input and of output, and the day from which on it counts.";
  }
  const from = day === undefined ? "" : `, from ${day} on`;
  const least = above === undefined ? "" : `, with more than ${count(Number(above))} of input`;
  return `$${input} for a million tokens of input and $${output} of output${from}${least}.`;
}
