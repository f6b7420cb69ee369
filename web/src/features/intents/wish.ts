import type { Intent, NewIntent } from "../../api/types";
import { duration, money, shellWord } from "../../ui/format";

const MICROS = 1_000_000;

/** Millionths of a dollar from what a person typed, `undefined` for nothing, `NaN` for nonsense. */
export function microsOf(dollars: string): number | undefined {
  const text = dollars.trim().replace(/^\$/, "");
  if (text === "") return undefined;
  return /^\d+([.,]\d+)?$/.test(text)
    ? Math.round(Number(text.replace(",", ".")) * MICROS)
    : Number.NaN;
}

/** What is wrong with a budget, as a sentence. */
export function budgetFault(dollars: string): string | undefined {
  const micros = microsOf(dollars);
  if (micros === undefined || micros > 0) return undefined;
  return Number.isNaN(micros) ? "Write an amount such as 5 or 2.50." : "A budget is more than 0.";
}

/** The same wish on the command line. */
export function wishCli({ text, budgetMicros, rules }: NewIntent): string {
  const words = ["godel do", shellWord(text)];
  if (budgetMicros) words.push(`--budget ${budgetMicros / MICROS}`);
  if (rules) words.push("--rules");
  return words.join(" ");
}

/** The same answer to what is asked about a wish. */
export function answerCli(id: string, answer: string): string {
  return `godel do --answer ${id} ${shellWord(answer)}`;
}

/** `$0.0113 to $1.62, about $0.4554`. */
export function costWords({ cost }: NonNullable<Intent["estimate"]>): string {
  return `about ${money(cost.middle)} (${money(cost.low)} to ${money(cost.high)})`;
}

/** `about 7m (0s to 25m)`. */
export function timeWords({ seconds }: NonNullable<Intent["estimate"]>): string {
  return `about ${duration(seconds.middle)} (${duration(seconds.low)} to ${duration(seconds.high)})`;
}

const SURE: Record<string, string> = {
  guess: "A guess",
  rough: "Rough",
  measured: "Measured",
};

/** How sure an estimate is, in a word. */
export function sureWord(sureness: string): string {
  return SURE[sureness] ?? sureness;
}

/** What one would allow for it: all that it may cost, rounded up to cents. */
export function suggestedBudget({ cost }: NonNullable<Intent["estimate"]>): string {
  return (Math.ceil(cost.high / 10_000) / 100).toFixed(2);
}
