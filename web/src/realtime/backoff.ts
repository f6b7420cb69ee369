const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 15_000;
/** How far a delay may move from its middle, so that many pages do not return at once. */
const JITTER = 0.2;

/** Waiting time before try number `attempt` (from 0): 0.5, 1, 2, 4 .. 15 s, give or take 20%. */
export function backoffDelay(attempt: number, random: () => number): number {
  const middle = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(attempt, 10));
  const spread = 1 + JITTER * (2 * random() - 1);
  return Math.min(MAX_DELAY_MS, Math.round(middle * spread));
}
