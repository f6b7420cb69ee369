import type { Budget } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { setParams } from "../../router/router";
import { money } from "../../ui/format";
import { stopsAt } from "../budgets/budgets";
import type { Forecast } from "./spend";
import { Tile } from "./Tile";

interface ForecastTileProps {
  end: Forecast;
  /** What the budget counts of what was spent in its period. */
  spent: number;
  /** The monthly one, else the daily one. */
  budget: Budget | undefined;
}

/** When the budget ends if spending goes on like this. */
export function ForecastTile({ end, spent, budget }: ForecastTileProps) {
  if (end.kind === "unlimited" || !budget) {
    return (
      <Tile title="Forecast" value="No limit">
        <Guarded
          size="small"
          can="budget:update:team"
          onClick={() => setParams({ tab: "budgets", budget: "new" })}
        >
          Set a budget
        </Guarded>
      </Tile>
    );
  }
  // Who reads a forecast thinks of the month; a day is told as such.
  const isDaily = budget.period === "daily";
  if (end.kind === "over") {
    const note = then(budget, spent);
    return (
      <Tile title="Forecast" value="Used up" note={isDaily ? `the daily budget: ${note}` : note} />
    );
  }
  if (end.kind === "ends") {
    const value = isDaily ? `${time(end.at)} UTC` : date(end.at);
    const note = isDaily
      ? "then the daily budget is used up"
      : "in UTC; then the budget is used up";
    return <Tile title="Forecast" value={value} note={note} />;
  }
  return <Tile title="Forecast" value="Lasts" note={until(budget, isDaily)} />;
}

/** How long it lasts for certain. */
function until({ endsAt }: Budget, isDaily: boolean): string {
  if (!endsAt) return "at this rate";
  const anew = `until it begins anew, ${date(Date.parse(endsAt))} in UTC`;
  return isDaily ? `the daily budget, ${anew}` : anew;
}

/** What becomes of requests now that a budget is used up. */
function then(budget: Budget, spent: number): string {
  const refusedFrom = stopsAt(budget);
  if (refusedFrom === undefined) return "it only tells";
  return spent < refusedFrom ? `refuses from ${money(refusedFrom)} on` : "requests are refused";
}

/** The day in UTC, as budgets have it: west of it, the first of a month would be the last of another. */
function date(at: number): string {
  return new Date(at).toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    timeZone: "UTC",
  });
}

function time(at: number): string {
  return new Date(at).toLocaleTimeString("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    timeZone: "UTC",
  });
}
