/** The first and the last moment of days in the reader's own time zone; what is no day does not narrow. */
export function daysOf(from: string, to: string): { since?: string; until?: string } {
  const first = midnight(from, 0);
  const after = midnight(to, 1);
  return {
    ...(first !== undefined && { since: new Date(first).toISOString() }),
    ...(after !== undefined && { until: new Date(after - 1).toISOString() }),
  };
}

function midnight(day: string, later: number): number | undefined {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day);
  if (!found) return undefined;
  const [year = 0, month = 1, date = 1] = found.slice(1).map(Number);
  const at = new Date(year, month - 1, date + later).getTime();
  return Number.isNaN(at) ? undefined : at;
}
