import { useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import type { PageProps } from "../../pages";
import { setParams, useParam } from "../../router/router";
import { Boundary } from "../../ui/Boundary";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { Loaded } from "../../ui/Loaded";
import { PageHead, Select } from "../../ui/PageHead";
import { SkeletonRows } from "../../ui/Skeleton";
import { Segmented, Tabs } from "../../ui/Tabs";
import { BudgetList } from "../budgets/BudgetList";
import { CallPeek } from "./CallPeek";
import { CallTable } from "./CallTable";
import styles from "./CostsPage.module.css";
import { Headline } from "./Headline";
import type { Preset, Range } from "./range";
import { Savings } from "./Savings";
import { SpendPanel } from "./SpendPanel";
import { SpentOn } from "./SpentOn";
import { SplitTable } from "./SplitTable";
import { KINDS, type Kind, splitsOf, sumOf } from "./spend";
import { seriesOf } from "./stack";
import { type Scope, useCalls, useScope, useSpend, useTitles, useView } from "./useSpend";

const PRESET_TITLES: readonly { id: Preset; title: string }[] = [
  { id: "24h", title: "24 h" },
  { id: "7d", title: "7 d" },
  { id: "30d", title: "30 d" },
  { id: "90d", title: "90 d" },
  { id: "month", title: "Month" },
];
const TABS = [
  { id: "split", title: "Split" },
  { id: "requests", title: "Requests" },
  { id: "budgets", title: "Budgets" },
] as const;

/** What models, machines and storage cost: now, over time, by whom, down to the single request. */
export function Page(_: PageProps) {
  const view = useView();
  const scope = useScope();
  const [call, setCall] = useParam("call");
  return (
    <>
      <PageHead title="Costs" tools={<Tools view={view} />} acts={<Refresh />} />
      <div className={styles.body}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
        <section className={styles.scroll} tabIndex={0} aria-label="Costs">
          <Boundary what="The sums">
            <Headline zone={view.zone} now={view.now} />
          </Boundary>
          <Chips scope={scope} />
          <Boundary what="The spending">
            <Spending view={view} scope={scope} />
          </Boundary>
        </section>
        {call !== undefined && (
          <Boundary key={call} what="The request">
            <CallPeek id={call} onClose={() => setCall(undefined)} />
          </Boundary>
        )}
      </div>
    </>
  );
}

type View = ReturnType<typeof useView>;

function Tools({ view }: { view: View }) {
  return (
    <>
      <Segmented
        label="Time"
        options={PRESET_TITLES}
        // A part that was zoomed into is none of them.
        value={view.isZoomed ? ("" as Preset) : view.preset}
        onChange={view.choosePreset}
      />
      <Select
        label="Split by"
        value={view.kind}
        options={KINDS.map((kind) => [kind, `By ${kind}`])}
        onChange={(kind) => view.setKind(kind as Kind)}
      />
      <Segmented
        label="Days begin at midnight"
        options={[
          { id: "utc", title: "UTC" },
          { id: "local", title: "Local time" },
        ]}
        value={view.zone}
        onChange={view.setZone}
      />
    </>
  );
}

function Refresh() {
  const client = useQueryClient();
  return (
    <Button
      size="small"
      onClick={() => {
        for (const key of ["usage", "calls", "budgets"])
          client.invalidateQueries({ queryKey: [key] });
      }}
    >
      <Icon name="refresh" size={14} />
      Refresh
    </Button>
  );
}

function Spending({ view, scope }: { view: View; scope: Scope }) {
  const { range, zone, kind } = view;
  const titles = useTitles();
  const titleOf = (key: string) => titles(kind, key);
  const query = useSpend(range, zone, kind, scope);
  const splits = useMemo(() => splitsOf(query.data ?? []), [query.data]);
  return (
    <>
      <Loaded query={query} what="The spending" skeleton={<SkeletonRows rows={10} />}>
        {(cells) => (
          <>
            <SpendPanel
              series={seriesOf(cells, splits, range.buckets, titleOf)}
              range={range}
              isZoomed={view.isZoomed}
            />
            <SpentOn range={range} zone={zone} scope={scope} />
            <Savings totals={sumOf(splits)} />
          </>
        )}
      </Loaded>
      <div className={styles.tabs}>
        <Tabs label="Details" tabs={TABS}>
          {(tab) => (
            <div className={styles.tab}>
              {tab === "split" && query.data && (
                <SplitTable kind={kind} splits={splits} range={range} titleOf={titleOf} />
              )}
              {tab === "split" && !query.data && !query.error && <SkeletonRows rows={3} />}
              {tab === "requests" && <Requests range={range} scope={scope} />}
              {tab === "budgets" && <BudgetList />}
            </div>
          )}
        </Tabs>
      </div>
    </>
  );
}

function Requests({ range, scope }: { range: Range; scope: Scope }) {
  const query = useCalls(range, scope);
  return (
    <Loaded query={query} what="The requests" skeleton={<SkeletonRows />}>
      {(data) => <CallTable {...data} range={range} />}
    </Loaded>
  );
}

/** What the page is narrowed to, each with a way to take it back. */
function Chips({ scope }: { scope: Scope }) {
  const titles = useTitles();
  if (scope.chips.length === 0) return null;
  return (
    <ul className={styles.chips} aria-label="Only">
      {scope.chips.map(([kind, value]) => {
        const title = value === "" ? titles(kind, "") : `${kind} ${titles(kind, value)}`;
        return (
          <li key={kind}>
            <button
              type="button"
              aria-label={`Show more than ${title}`}
              onClick={() => setParams({ [value === "" ? "without" : kind]: undefined })}
            >
              {title}
              <Icon name="clear" size={12} />
            </button>
          </li>
        );
      })}
    </ul>
  );
}
