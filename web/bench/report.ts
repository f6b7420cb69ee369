/** One number, and what it must be. */
export interface Row {
  part: string;
  what: string;
  /** Nothing if it could not be measured. */
  value: number | undefined;
  unit: "ms" | "" | "MB" | "/s";
  /** It must be below this. */
  below?: number;
  /** It must be exactly this. */
  exactly?: number;
  /** It must be at least this. */
  least?: number;
  /** The same without load, or what else says how to take the number. */
  note?: string;
}

export type Verdict = "met" | "missed" | "unknown" | "none";

export function verdictOf({ value, below, exactly, least }: Row): Verdict {
  const hasBar = below !== undefined || exactly !== undefined || least !== undefined;
  if (!hasBar) return "none";
  if (value === undefined || Number.isNaN(value)) return "unknown";
  const isMet =
    (below === undefined || value < below) &&
    (exactly === undefined || value === exactly) &&
    (least === undefined || value >= least);
  return isMet ? "met" : "missed";
}

/** 2 if something could not be measured, 1 if a bar was missed, else 0. */
export function exitCodeOf(rows: readonly Row[]): number {
  const verdicts = rows.map(verdictOf);
  if (verdicts.includes("unknown")) return 2;
  return verdicts.includes("missed") ? 1 : 0;
}

const SAID: Record<Verdict, string> = { met: "yes", missed: "NO", unknown: "?", none: "" };

/** The rows for people to read. */
export function tableOf(rows: readonly Row[]): string {
  const lines = [
    ["part", "what", "measured", "bar", "met", "beside it"],
    ...rows.map((row) => [
      row.part,
      row.what,
      said(row.value, row.unit),
      barOf(row),
      SAID[verdictOf(row)],
      row.note ?? "",
    ]),
  ];
  const widths = [0, 1, 2, 3, 4].map((at) =>
    Math.max(...lines.map((line) => line[at]?.length ?? 0)),
  );
  return lines
    .map((line) =>
      line
        .map((text, at) => text.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** The rows for programs to read. */
export function jsonOf(rows: readonly Row[], about: object): string {
  const told = rows.map((row) => ({ ...row, bar: barOf(row), verdict: verdictOf(row) }));
  return JSON.stringify({ about, rows: told }, undefined, 2);
}

function barOf({ below, exactly, least, unit }: Row): string {
  if (below !== undefined) return `under ${said(below, unit)}`;
  if (exactly !== undefined) return said(exactly, unit);
  if (least !== undefined) return `at least ${said(least, unit)}`;
  return "";
}

function said(value: number | undefined, unit: Row["unit"]): string {
  if (value === undefined || Number.isNaN(value)) return "not measured";
  const digits = Number.isInteger(value) ? 0 : value < 1 ? 4 : 1;
  return `${value.toFixed(digits)}${unit === "/s" || unit === "" ? unit : ` ${unit}`}`;
}
