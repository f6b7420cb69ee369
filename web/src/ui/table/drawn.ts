import type { Flow } from "../flow/useFlow";

/** A row that is drawn, and the room that rows above it take which are not. */
export interface Drawn {
  index: number;
  above: number;
}

/**
 * The rows that are drawn, in their order: those in view, and those that stay wherever the list is
 * scrolled to. `below` is the room of all that come after the last of them.
 */
export function drawnOf(
  { offsets, first, end, total }: Pick<Flow, "offsets" | "first" | "end" | "total">,
  kept: readonly number[],
): { rows: Drawn[]; below: number } {
  const inView = Array.from({ length: end - first }, (_, at) => first + at);
  const indexes = [...new Set([...inView, ...kept])].sort((a, b) => a - b);
  let y = 0;
  const rows = indexes.map((index) => {
    const above = (offsets[index] ?? y) - y;
    y = offsets[index + 1] ?? total;
    return { index, above };
  });
  return { rows, below: total - y };
}
