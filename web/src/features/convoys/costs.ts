import type { Bead } from "../../api/types";

type Beads = ReadonlyMap<string, Bead>;
/** What beads cost, in millionths of a dollar, by their ids. */
export type Costs = ReadonlyMap<string, number>;

/** What finished beads cost on average. */
export interface MeanCost {
  micros: number;
  beads: number;
}

/** What finished beads cost on average; nothing if none has a cost. */
export function meanCostOf(beads: Beads, costs: Costs | undefined): MeanCost | undefined {
  let [sum, counted] = [0, 0];
  for (const [id, cost] of costs ?? []) {
    if (cost <= 0 || beads.get(id)?.status !== "done") continue;
    sum += cost;
    counted += 1;
  }
  return counted === 0 ? undefined : { micros: sum / counted, beads: counted };
}

/** What beads will have cost when all are done: what they did, and for those left at least what others cost. */
export function expectedCost(beads: readonly Bead[], costs: Costs, mean: MeanCost): number {
  return beads.reduce((sum, { id, status }) => {
    const spent = costs.get(id) ?? 0;
    return sum + (status === "done" ? spent : Math.max(spent, mean.micros));
  }, 0);
}
