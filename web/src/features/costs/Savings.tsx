import type { UsageTotals } from "../../api/types";
import { Figures } from "./Figures";
import { savingsOf } from "./savings";

/** What was not spent in the time that is shown, because of caches and of routing. */
export function Savings({ totals }: { totals: UsageTotals }) {
  return <Figures label="Savings in this time" figures={savingsOf(totals)} />;
}
