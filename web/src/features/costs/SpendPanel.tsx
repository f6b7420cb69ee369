import { setParams, useChoice, useParam } from "../../router/router";
import { Button } from "../../ui/Button";
import { money } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Segmented } from "../../ui/Tabs";
import { NothingSpent } from "./NothingSpent";
import { bucketTitle, type Range, zoomed } from "./range";
import { SpendChart } from "./SpendChart";
import chart from "./SpendChart.module.css";
import styles from "./SpendPanel.module.css";
import type { Series } from "./stack";

const SHAPES = ["chart", "table"] as const;

interface SpendPanelProps {
  series: readonly Series[];
  range: Range;
  isZoomed: boolean;
}

/** What belongs to none has no name, and the address has no empty fields. */
const inAddress = (key: string) => key || "-";

/** Spending over time: as a drawing, or as the same numbers in a table. */
export function SpendPanel({ series, range, isZoomed }: SpendPanelProps) {
  const [shape, setShape] = useChoice("view", SHAPES, "chart");
  const [only, setOnly] = useParam("only");
  const isolated = series.filter(({ key }) => inAddress(key) === only);
  const shown = isolated.length > 0 ? isolated : series;
  return (
    <section className={styles.panel} aria-label="Spending over time">
      <div className={styles.head}>
        <ul className={styles.legend} aria-label="Legend">
          {series.map(({ key, title, colour }) => {
            const isOnly = inAddress(key) === only;
            return (
              <li key={key}>
                <button
                  type="button"
                  aria-pressed={isOnly}
                  data-off={isolated.length > 0 && !isOnly ? true : undefined}
                  title={isOnly ? "Show all again" : `Show only ${title}`}
                  onClick={() => setOnly(isOnly ? undefined : inAddress(key))}
                >
                  <span className={chart.dot} data-colour={colour} />
                  {title}
                </button>
              </li>
            );
          })}
        </ul>
        {isZoomed && (
          <Button
            size="small"
            onClick={() => setParams({ from: undefined, to: undefined }, { replace: false })}
          >
            <Icon name="clear" size={13} />
            Zoom out
          </Button>
        )}
        <Segmented
          label="Show the spending as"
          options={[
            { id: "chart", title: "Chart" },
            { id: "table", title: "Table" },
          ]}
          value={shape}
          onChange={setShape}
        />
      </div>
      {series.length === 0 ? (
        <NothingSpent why="Nothing was spent in this time." cli="godel cost" />
      ) : shape === "chart" ? (
        <SpendChart
          series={shown}
          buckets={range.buckets}
          onZoom={(first, last) => setParams(zoomed(range, first, last), { replace: false })}
        />
      ) : (
        <Twin series={shown} buckets={range.buckets} />
      )}
    </section>
  );
}

/** The numbers of the drawing; parts without any spending are left out. */
function Twin({ series, buckets }: { series: readonly Series[]; buckets: readonly string[] }) {
  const sums = buckets.map((_, at) =>
    series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0),
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section className={styles.twin} tabIndex={0} aria-label="Spending as a table">
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ key, title }) => (
              <th key={key} scope="col">
                {title}
              </th>
            ))}
            <th scope="col">Sum</th>
          </tr>
        </thead>
        <tbody>
          {buckets.map((bucket, at) =>
            sums[at] ? (
              <tr key={bucket}>
                <th scope="row">{bucketTitle(bucket)}</th>
                {series.map(({ key, values }) => (
                  <td key={key}>{money(values[at] ?? 0)}</td>
                ))}
                <td>{money(sums[at])}</td>
              </tr>
            ) : null,
          )}
        </tbody>
      </table>
    </section>
  );
}
