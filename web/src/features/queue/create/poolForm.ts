import type { Pool, PoolPatch } from "../../../api/types";
import { shellWord } from "../../../ui/format";

export type PoolValues = Record<"ageing" | "placement" | "alert", string>;

/** How a pool works, as people write it; empty means never. */
export function poolValues(pool: Pool): PoolValues {
  return {
    ageing: pool.ageingSeconds ? String(pool.ageingSeconds) : "",
    placement: pool.placement,
    alert: pool.deadAlert > 0 ? String(pool.deadAlert) : "",
  };
}

/** What is no number, by field. */
export function poolFaults(values: PoolValues): Partial<PoolValues> {
  const faults: Partial<PoolValues> = {};
  for (const name of ["ageing", "alert"] as const) {
    if (!/^\d*$/.test(values[name].trim())) faults[name] = "Write a whole number, or nothing.";
  }
  return faults;
}

/** Only what is not as it was: somebody else may have set the rest meanwhile. */
export function poolChange(pool: Pool, values: PoolValues): PoolPatch {
  const before = poolValues(pool);
  return {
    ...(values.ageing !== before.ageing && { ageingSeconds: Number(values.ageing) }),
    ...(values.placement !== before.placement && { placement: values.placement }),
    ...(values.alert !== before.alert && { deadAlert: Number(values.alert) }),
  };
}

/** The same on the command line. */
export function poolCli(pool: Pool, values: PoolValues): string {
  const { ageingSeconds, placement, deadAlert } = poolChange(pool, values);
  const words = [
    flag("ageing", ageingSeconds),
    placement && `--placement ${placement}`,
    flag("alert", deadAlert),
  ].filter(Boolean);
  return ["godel queue set", shellWord(pool.name), ...words].join(" ");
}

function flag(name: string, value: number | null | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return value === 0 ? `--no-${name}` : `--${name} ${value}`;
}
