/** One line of a file for spreadsheets. */
export type CsvRow = readonly (string | number)[];

/** Rows as CSV. A text that a spreadsheet would run as a formula is kept a text. */
export function csvOf(head: readonly string[], rows: readonly CsvRow[]): string {
  return [head, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** Lets the browser keep a text as a file. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has read it by the next task.
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}

function cell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) && !/^-?\d+(\.\d+)?$/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
