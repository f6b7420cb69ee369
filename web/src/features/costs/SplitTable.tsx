import { setParams } from "../../router/router";
import { Button } from "../../ui/Button";
import { count, dollars, money, plural } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Money } from "../../ui/Money";
import { type Column, DataTable } from "../../ui/table/DataTable";
import { csvOf, saveFile } from "./csv";
import type { Range } from "./range";
import styles from "./SplitTable.module.css";
import { type Saved, savedOf, tellParts } from "./savings";
import { cacheHit, isNoModel, type Kind, type Split, sumOf } from "./spend";

interface SplitTableProps {
  kind: Kind;
  splits: readonly Split[];
  range: Range;
  titleOf: (key: string) => string;
}

/** Who spent how much; a line opens what it is made of. */
export function SplitTable({ kind, splits, range, titleOf }: SplitTableProps) {
  const total = sumOf(splits);
  const open = ({ key }: Split) => setParams(insideOf(kind, key), { replace: false });
  return (
    <div className={styles.part}>
      <div className={styles.head}>
        <p data-total={total.costMicros}>
          <strong>
            <Money micros={total.costMicros} />
          </strong>{" "}
          for {plural(total.requests, "request")}
          {total.unpriced > 0 && `, ${count(total.unpriced)} without a known price`}
          {(total.byLogin ?? 0) > 0 && `, ${count(total.byLogin ?? 0)} by a subscription`}
          {total.estimated > 0 && `, ${count(total.estimated)} estimated`}
        </p>
        <Button
          size="small"
          onClick={() =>
            saveFile(fileName(`costs-by-${kind}`, range), splitCsv(kind, splits, titleOf))
          }
        >
          <Icon name="down" size={13} />
          CSV
        </Button>
      </div>
      <div className={styles.box} style={{ height: boxHeight(splits.length) }}>
        <DataTable
          label={`Costs by ${kind}`}
          noun={kind}
          sortParam="splitSort"
          columns={columnsOf(kind, total.costMicros, titleOf)}
          rows={splits}
          keyOf={({ key }) => key || "-"}
          onOpen={open}
        />
      </div>
    </div>
  );
}

/** Where one looks closer: at requests, and where there are none at whose machines and storage they are. */
export function insideOf(kind: Kind, key: string): Record<string, string> {
  if (kind === "kind" && key === "models") return { tab: "requests" };
  if ((kind === "kind" || kind === "provider") && isNoModel(key)) {
    return { provider: key, by: key === "runtime" ? "agent" : "project" };
  }
  return key === "" ? { without: kind, tab: "requests" } : { [kind]: key, tab: "requests" };
}

/** The table as CSV: the same lines, costs to the millionth of a dollar. */
export function splitCsv(
  kind: Kind,
  splits: readonly Split[],
  titleOf: (key: string) => string,
): string {
  const head = [
    kind,
    "requests",
    "failed",
    "inputTokens",
    "cacheReadTokens",
    "cacheWriteTokens",
    "outputTokens",
    "costMicros",
    "cost",
    "savedByCacheMicros",
    "savedByRoutingMicros",
  ];
  const rows = splits.map(({ key, totals }) => [
    titleOf(key),
    totals.requests,
    totals.failed,
    totals.inputTokens,
    totals.cacheReadTokens,
    totals.cacheWriteTokens,
    totals.outputTokens,
    totals.costMicros,
    dollars(totals.costMicros),
    totals.savedByCacheMicros ?? 0,
    totals.savedByRoutingMicros ?? 0,
  ]);
  return csvOf(head, rows);
}

/** As high as its rows, up to a screenful. */
export function boxHeight(rows: number): number {
  return Math.min(480, 33 + Math.max(1, rows) * 36 + 14);
}

/** `costs-by-model-2026-11-01-2026-11-16.csv` */
export function fileName(what: string, { buckets }: Range): string {
  return `${what}-${buckets[0]}-${buckets.at(-1)}.csv`;
}

function columnsOf(
  kind: Kind,
  total: number,
  titleOf: (key: string) => string,
): readonly Column<Split>[] {
  const number = (
    id: string,
    title: string,
    value: (split: Split) => number,
    show: (split: Split) => string = (split) => count(value(split)),
  ): Column<Split> => ({
    id,
    title,
    width: "104px",
    isNumber: true,
    sortBy: value,
    cell: (split) => show(split),
  });
  return [
    {
      id: "name",
      title: `${kind[0]?.toUpperCase()}${kind.slice(1)}`,
      width: "minmax(150px, 2fr)",
      sortBy: ({ key }) => titleOf(key),
      cell: ({ key }) => <strong className={styles.name}>{titleOf(key)}</strong>,
    },
    number("requests", "Requests", ({ totals }) => totals.requests),
    number("input", "Input tokens", ({ totals }) => allInput(totals)),
    number(
      "cache",
      "Cache hit",
      ({ totals }) => cacheHit(totals) ?? -1,
      ({ totals }) => percent(cacheHit(totals)),
    ),
    number("output", "Output tokens", ({ totals }) => totals.outputTokens),
    {
      id: "cost",
      title: "Cost",
      width: "104px",
      isNumber: true,
      sortBy: ({ totals }) => totals.costMicros,
      cell: ({ totals }) => <Money micros={totals.costMicros} />,
    },
    {
      id: "saved",
      title: "Saved",
      width: "104px",
      isNumber: true,
      sortBy: ({ totals }) => savedOf(totals),
      cell: ({ totals }) => <SavedMoney saved={totals} />,
    },
    {
      id: "share",
      title: "Share",
      width: "minmax(110px, 1fr)",
      cell: ({ totals }) => {
        const share = total > 0 ? totals.costMicros / total : 0;
        return (
          <span className={styles.share}>
            <span className={styles.bar} aria-hidden="true">
              <span style={{ width: percent(share) }} />
            </span>
            <span className={styles.percent}>{percent(share)}</span>
          </span>
        );
      },
    },
  ];
}

/** What caches and routing saved together; hovered, each of them. */
function SavedMoney({ saved }: { saved: Saved }) {
  const micros = savedOf(saved);
  return (
    <span title={tellParts(saved)} data-saved={micros}>
      {micros === 0 ? "-" : money(micros)}
    </span>
  );
}

/** `42%`; nothing to divide is a dash. */
export function percent(part: number | undefined): string {
  return part === undefined ? "-" : `${Math.round(part * 100)}%`;
}

function allInput(totals: Split["totals"]): number {
  return totals.inputTokens + totals.cacheReadTokens + totals.cacheWriteTokens;
}
