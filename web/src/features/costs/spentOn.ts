import type { RuntimeList } from "../../api/types";
import { money } from "../../ui/format";
import type { Figure } from "./Figures";
import { exactly } from "./savings";
import type { Split } from "./spend";

const NO_RATE =
  "No rate is set: say in proxy.toml what you pay, and it is in the sums from then on.";

/** What was spent on models, machines and storage; a dash where no rate is set and nothing was spent. */
export function spentOn(splits: readonly Split[], rates: RuntimeList | undefined): Figure[] {
  const figure = (id: string, title: string, how: string | undefined): Figure => {
    const micros = splits.find(({ key }) => key === id)?.totals.costMicros ?? 0;
    const value = how === undefined && micros === 0 ? "-" : money(micros);
    return { id, title, micros, value, why: exactly(micros, how ?? NO_RATE) };
  };
  return [
    figure("models", "Models", "Each request by its own price."),
    figure("runtime", "Machines", hoursOf(rates)),
    figure("storage", "Storage", monthOf(rates)),
  ];
}

function hoursOf(rates: RuntimeList | undefined): string | undefined {
  const told = (rates?.items ?? []).flatMap(({ name, hourMicros }) =>
    hourMicros == null ? [] : [`${money(hourMicros)} in ${name}`],
  );
  if (told.length === 0) return undefined;
  return `An hour of an agent at work costs ${told.join(" and ")}; a paused one costs nothing.`;
}

function monthOf(rates: RuntimeList | undefined): string | undefined {
  const micros = rates?.storageGbMonthMicros;
  if (micros == null) return undefined;
  return `A gigabyte of snapshots costs ${money(micros)} a month, by the room that they take on disk.`;
}
