import { shellWord } from "../../../ui/format";
import { listIn } from "../../../ui/typed";
import { microsOf } from "../../intents/wish";

/** What people type to let several agents try a bead. */
export type Ways = Record<"many" | "models" | "harness" | "budget", string>;

export const EMPTY_WAYS: Ways = { many: "", models: "", harness: "", budget: "" };

/** What is wrong with how many there are, as a sentence. */
export function waysFault({ many }: Ways): string | undefined {
  const text = many.trim();
  if (text === "" || /^[2-8]$/.test(text)) return undefined;
  return "Write a number from 2 to 8.";
}

/** What the server is asked for; only what was said. */
export function waysOf(ways: Ways): object {
  const models = listIn(ways.models);
  const budget = microsOf(ways.budget);
  return {
    ...(ways.many.trim() !== "" && { attempts: Number(ways.many) }),
    ...(models.length > 0 && { models }),
    ...(ways.harness !== "" && { harness: ways.harness }),
    ...(budget && { budgetMicros: budget }),
  };
}

/** The same on the command line. */
export function waysCli(bead: string, ways: Ways): string {
  const models = listIn(ways.models);
  return [
    `godel attempt start ${bead}`,
    ...(ways.many.trim() !== "" ? [`--attempts ${shellWord(ways.many.trim())}`] : []),
    ...(models.length > 0 ? [`--models ${models.map(shellWord).join(",")}`] : []),
    ...(ways.harness !== "" ? [`--harness ${ways.harness}`] : []),
    ...(ways.budget.trim() !== "" ? [`--budget ${shellWord(ways.budget.trim())}`] : []),
  ].join(" ");
}
