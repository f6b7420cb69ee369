/** How a table is sorted: a column, and whether the largest comes first. */
export interface Sort {
  column: string;
  isDown: boolean;
}

/** Reads `cost` or `-cost`, as the address holds it. */
export function parseSort(text: string | undefined): Sort | undefined {
  if (!text) return undefined;
  return text.startsWith("-")
    ? { column: text.slice(1), isDown: true }
    : { column: text, isDown: false };
}

/** Writes it for the address. */
export function formatSort({ column, isDown }: Sort): string {
  return `${isDown ? "-" : ""}${column}`;
}

/** The next state of a column's head: up, down, then as it comes. */
export function nextSort(sort: Sort | undefined, column: string): Sort | undefined {
  if (sort?.column !== column) return { column, isDown: false };
  return sort.isDown ? undefined : { column, isDown: true };
}

/** What a row is sorted by; nothing sorts last, either way. */
export type SortValue = string | number | null | undefined;

/** Sorts rows by a value; equal ones stay in the order in which they came. */
export function sortRows<T>(rows: readonly T[], by: (row: T) => SortValue, isDown: boolean): T[] {
  const sign = isDown ? -1 : 1;
  return rows
    .map((row) => ({ row, value: by(row) ?? undefined }))
    .sort((a, b) => {
      if (a.value === undefined || b.value === undefined) {
        return Number(a.value === undefined) - Number(b.value === undefined);
      }
      if (typeof a.value === "number" && typeof b.value === "number") {
        return sign * (a.value - b.value);
      }
      return sign * String(a.value).localeCompare(String(b.value), "en", { numeric: true });
    })
    .map(({ row }) => row);
}
