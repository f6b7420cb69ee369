import { memo, type ReactNode, useCallback, useEffect, useMemo, useRef } from "react";
import { useParam } from "../../router/router";
import { classes } from "../classes";
import { Icon } from "../Icon";
import { NewRows } from "../NewRows";
import { useLatest } from "../useLatest";
import styles from "./DataTable.module.css";
import { formatSort, nextSort, parseSort, type Sort, type SortValue, sortRows } from "./sort";
import { useCalmRows } from "./useCalmRows";
import type { Rows } from "./useRows";
import { useKeepInView, useVirtual } from "./useVirtual";

/** One column of a table. */
export interface Column<T> {
  id: string;
  title: string;
  /** A track of a CSS grid: `120px`, `minmax(180px, 2fr)`, `minmax(100px, 200px)`. */
  width: string;
  cell: (row: T) => ReactNode;
  /** What it is sorted by; without it the column cannot be. */
  sortBy?: (row: T) => SortValue;
  isNumber?: boolean;
  /** It cannot be hidden. */
  always?: boolean;
}

interface DataTableProps<T> {
  /** What the rows are, for a screen reader: "Agents". */
  label: string;
  /** One of them: "agent". */
  noun: string;
  columns: readonly Column<T>[];
  /** Which columns are shown; see `useColumns`. */
  shown?: ReadonlySet<string>;
  /** In the order that counts while no column is chosen to sort by. */
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** Whether the reader took a row away: that one goes at once, also while the list is kept still. */
  isTaken?: (row: T) => boolean;
  onOpen?: (row: T) => void;
  onPeek?: (row: T) => void;
  /** The row that is peeked at. */
  peeked?: string | undefined;
  /** Told the key of the row under the cursor, for the keys of the page. */
  onCursor?: (key: string | undefined) => void;
  /** The name of the field of the address that holds the sorting. */
  sortParam?: string;
  /** What is shown above the table for the rows that are selected; see `BulkBar`. */
  bulk?: (selection: readonly T[], clear: () => void) => ReactNode;
  rowHeight?: number;
  /** Brings the sorted rows into groups; it may put heads between them, see `headOf`. */
  arrange?: ((rows: readonly T[]) => readonly T[]) | undefined;
  /** What the head of a group says; nothing for a row that is none. */
  headOf?: ((row: T) => ReactNode) | undefined;
}

const ROW_HEIGHT = 36;

/** A table of any length that draws only what is in view; sorted by the address, used by keys. */
export function DataTable<T>(props: DataTableProps<T>) {
  const { columns, shown, rows, keyOf, onOpen, onPeek, bulk, sortParam = "sort" } = props;
  const rowHeight = props.rowHeight ?? ROW_HEIGHT;
  const box = useRef<HTMLDivElement>(null);
  const { sort, sorted, sortTo } = useSorted(columns, rows, sortParam);
  const { arrange, headOf } = props;
  const arranged = useMemo(() => arrange?.(sorted) ?? sorted, [arrange, sorted]);
  const canSelect = bulk !== undefined;
  const { isTaken, peeked } = props;
  const lines = { box, rows: arranged, keyOf, isTaken, onOpen, onPeek, canSelect, peeked };
  const { calm, list } = useCalmRows(lines);
  const visible = useMemo(
    () => (shown ? columns.filter(({ id, always }) => always || shown.has(id)) : columns),
    [columns, shown],
  );
  const press = useLatest((row: T) => (onPeek ?? onOpen)?.(row));
  const view = useVirtual(box, calm.rows.length, rowHeight);
  const at = list.cursor ? calm.rows.findIndex((row) => keyOf(row) === list.cursor) : -1;
  useKeepInView(box, at, rowHeight);
  const { onCursor } = props;
  useEffect(() => onCursor?.(list.cursor), [onCursor, list.cursor]);
  const template = [...(bulk ? ["34px"] : []), ...visible.map((column) => column.width)].join(" ");
  return (
    <div className={styles.frame}>
      {list.selection.length > 0 && bulk?.(list.selection, list.clear)}
      <div ref={box} className={styles.box}>
        <div
          className={styles.table}
          role="grid"
          aria-label={props.label}
          aria-rowcount={calm.rows.length + 1}
          aria-multiselectable={bulk ? true : undefined}
          style={
            {
              "--columns": template,
              "--row": `${rowHeight}px`,
              minWidth: leastWidth(template),
            } as React.CSSProperties
          }
        >
          <Head columns={visible} sort={sort} onSort={sortTo} list={bulk && list} />
          <NewRows waiting={calm.waiting} noun={props.noun} onShow={calm.show} />
          <div role="rowgroup" className={styles.space} style={{ height: view.total }}>
            <div style={{ transform: `translateY(${view.offset}px)` }} role="presentation">
              {calm.rows.slice(view.first, view.end).map((row, index) => (
                <Line
                  key={keyOf(row)}
                  row={row}
                  id={keyOf(row)}
                  index={view.first + index}
                  columns={visible}
                  isAt={list.cursor === keyOf(row)}
                  isSelected={list.selected.has(keyOf(row))}
                  canSelect={canSelect}
                  isPeeked={peeked === keyOf(row)}
                  onCursor={list.setCursor}
                  onToggle={list.toggle}
                  onPress={press}
                  head={headOf?.(row)}
                />
              ))}
            </div>
          </div>
        </div>
      </div>
    </div>
  );
}

/** The rows in the order that the address says. */
function useSorted<T>(columns: readonly Column<T>[], rows: readonly T[], param: string) {
  const [text, setText] = useParam(param);
  const sort = useMemo(() => parseSort(text), [text]);
  const sorted = useMemo(() => {
    const by = columns.find((column) => column.id === sort?.column)?.sortBy;
    return by && sort ? sortRows(rows, by, sort.isDown) : rows;
  }, [columns, rows, sort]);
  const sortTo = useCallback(
    (column: string) => {
      const next = nextSort(parseSort(text), column);
      setText(next && formatSort(next));
    },
    [text, setText],
  );
  return { sort, sorted, sortTo };
}

/** Narrower than this, the table scrolls sideways. */
function leastWidth(template: string): number {
  const tracks = template.replace(/, *\d+px\)/g, ")").match(/\d+(?=px)/g) ?? [];
  return tracks.reduce((sum, track) => sum + Number(track), 2 * 16);
}

function Head<T>({
  columns,
  sort,
  onSort,
  list,
}: {
  columns: readonly Column<T>[];
  sort: Sort | undefined;
  onSort: (column: string) => void;
  list: Rows<T> | undefined;
}) {
  return (
    <div role="rowgroup" className={styles.heads}>
      <div role="row" className={styles.row} aria-rowindex={1}>
        {list && (
          <div role="columnheader" className={styles.pick}>
            <input
              type="checkbox"
              aria-label="Select all"
              checked={list.selection.length > 0}
              onChange={list.toggleAll}
            />
          </div>
        )}
        {columns.map((column) => {
          const isSorted = sort?.column === column.id;
          const direction = sort?.isDown ? "descending" : "ascending";
          return (
            <div
              key={column.id}
              role="columnheader"
              className={classes(styles.cell, column.isNumber && styles.number)}
              aria-sort={isSorted ? direction : undefined}
            >
              {column.sortBy ? (
                <button type="button" className={styles.sort} onClick={() => onSort(column.id)}>
                  {column.title}
                  {isSorted && (
                    <span className={sort.isDown ? styles.down : undefined}>
                      <Icon name="up" size={12} />
                    </span>
                  )}
                </button>
              ) : (
                column.title
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface LineProps<T> {
  row: T;
  id: string;
  index: number;
  columns: readonly Column<T>[];
  isAt: boolean;
  isSelected: boolean;
  canSelect: boolean;
  isPeeked: boolean;
  onCursor: (id: string) => void;
  onToggle: (id: string) => void;
  onPress: (row: T) => void;
  head: ReactNode;
}

/** A line is drawn again only if something of it is another: a list may change all the time. */
const Line = memo(function Line<T>(props: LineProps<T>) {
  const { row, id, index, columns, isAt, isSelected, canSelect, isPeeked, head } = props;
  if (head !== undefined && head !== null) {
    return (
      <div
        role="row"
        className={classes(styles.row, styles.group)}
        aria-rowindex={index + 2}
        data-cursor={isAt || undefined}
      >
        <div role="gridcell" className={styles.whole}>
          {head}
        </div>
      </div>
    );
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter and Space are keys of the list
    <div
      role="row"
      data-row={id}
      className={classes(styles.row, styles.line)}
      aria-rowindex={index + 2}
      aria-selected={canSelect ? isSelected : undefined}
      data-cursor={isAt || undefined}
      data-peeked={isPeeked || undefined}
      onClick={(event) => {
        if ((event.target as Element).closest("a, button, input, label, select")) return;
        props.onCursor(id);
        props.onPress(row);
      }}
    >
      {canSelect && (
        <div role="gridcell" className={styles.pick}>
          <input
            type="checkbox"
            aria-label={`Select row ${index + 1}`}
            checked={isSelected}
            onChange={() => props.onToggle(id)}
          />
        </div>
      )}
      {columns.map((column) => (
        <div
          key={column.id}
          role="gridcell"
          className={classes(styles.cell, column.isNumber && styles.number)}
        >
          {column.cell(row)}
        </div>
      ))}
    </div>
  );
}) as <T>(props: LineProps<T>) => ReactNode;
