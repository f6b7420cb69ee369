import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useMemo } from "react";
import { serverNow } from "../../api/clock";
import type { AuditEntry, AuditVerdict } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { useRefusal } from "../../roles/session";
import { setParams, useParam } from "../../router/router";
import { Empty, EmptyFilter } from "../../ui/Empty";
import { count } from "../../ui/format";
import { Loaded } from "../../ui/Loaded";
import { ErrorNotice, Notice } from "../../ui/Notice";
import { FilterBox, Select } from "../../ui/PageHead";
import { ShortId } from "../../ui/ShortId";
import { SkeletonRows } from "../../ui/Skeleton";
import { PartialBadge, Status } from "../../ui/Status";
import { Time } from "../../ui/Time";
import { type Column, DataTable } from "../../ui/table/DataTable";
import styles from "./AuditSection.module.css";
import { daysOf } from "./auditDays";
import { ExportActs } from "./ExportActs";
import { settingsQueries } from "./queries";
import { Section } from "./Section";

const COLUMNS: readonly Column<AuditEntry>[] = [
  {
    id: "at",
    title: "When",
    width: "84px",
    sortBy: ({ seq }) => seq,
    cell: ({ at }) => <Time at={at} />,
  },
  {
    id: "actor",
    title: "Who",
    width: "minmax(100px, 1fr)",
    sortBy: ({ actor }) => actor ?? "",
    cell: ({ actor }) => actor ?? "the server",
  },
  {
    id: "action",
    title: "What",
    width: "minmax(120px, 1fr)",
    sortBy: ({ action }) => action,
    cell: ({ action }) => <code>{action}</code>,
  },
  {
    id: "resource",
    title: "To what",
    width: "minmax(140px, 2fr)",
    sortBy: ({ resource }) => resource,
    cell: ({ resource }) => <ShortId id={resource} isWhole />,
  },
  {
    id: "result",
    title: "Result",
    width: "100px",
    sortBy: ({ result }) => result,
    cell: ({ result }) => (
      <Status tone={result === "ok" ? "ok" : "bad"} icon={result === "ok" ? "check" : "lock"}>
        {result}
      </Status>
    ),
  },
  {
    id: "address",
    title: "From",
    width: "110px",
    cell: ({ address }) => address ?? "-",
  },
];

const SPANS = { "": undefined, "1h": 3_600_000, "1d": 86_400_000, "7d": 604_800_000 } as const;
/** The choice of the two days beside it. */
const DAYS = "days";

/** Who did what. Each row is bound to the one before it, so that nothing can be altered unseen. */
export function AuditSection() {
  const denied = useRefusal("audit:read:team");
  return (
    <Section
      title="Audit"
      lead="Who did what. Each row is bound to the one before it, so an alteration shows."
      acts={<Verify />}
    >
      {denied === undefined ? <Acts /> : <Empty icon="lock" why={denied} />}
    </Section>
  );
}

/** Which acts are looked at; all of it is in the address. */
function useActFilter() {
  const [action = "", setAction] = useParam("action");
  const [result = "", setResult] = useParam("result");
  const [since = "", setSince] = useParam("since");
  const [from = "", setFrom] = useParam("from");
  const [to = "", setTo] = useParam("to");
  const asked = useDeferredValue(action.trim());
  const filter = useMemo(() => {
    const ms = SPANS[since as keyof typeof SPANS];
    return {
      ...(asked !== "" && { action: asked.includes(":") ? asked : `${asked}*` }),
      ...(result !== "" && { result }),
      ...(ms && { since: new Date(serverNow() - ms).toISOString() }),
      ...(since === DAYS && daysOf(from, to)),
    };
  }, [asked, result, since, from, to]);
  return {
    filter,
    action,
    setAction,
    result,
    setResult,
    since,
    setSince,
    from,
    setFrom,
    to,
    setTo,
  };
}

function Acts() {
  const { filter, action, setAction, result, setResult, since, setSince, ...days } = useActFilter();
  const { from, setFrom, to, setTo } = days;
  const query = useQuery(settingsQueries.audit(filter));
  const clear = () =>
    setParams({
      action: undefined,
      result: undefined,
      since: undefined,
      from: undefined,
      to: undefined,
    });
  return (
    <>
      <div className={styles.tools}>
        <FilterBox
          label="Filter by what was done"
          placeholder="project:create"
          value={action}
          onChange={setAction}
        />
        <Select
          label="Result"
          value={result}
          options={[
            ["", "Any result"],
            ["ok", "ok"],
            ["denied", "denied"],
          ]}
          onChange={setResult}
        />
        <Select
          label="Since"
          value={since}
          options={[
            ["", "Ever"],
            ["1h", "Last hour"],
            ["1d", "Last day"],
            ["7d", "Last 7 days"],
            [DAYS, "From day to day"],
          ]}
          onChange={setSince}
        />
        <ExportActs filter={filter} />
        {since === DAYS && (
          <>
            <Day label="From" value={from} max={to} onChange={setFrom} />
            <Day label="To" value={to} min={from} onChange={setTo} />
          </>
        )}
      </div>
      <Loaded query={query} what="The record" skeleton={<SkeletonRows />}>
        {({ items, isCut }) =>
          items.length === 0 ? (
            <EmptyFilter what="acts" onClear={clear} />
          ) : (
            // Another filter is another table: its rows are not news.
            <ActTable key={JSON.stringify(filter)} acts={items} isCut={isCut} />
          )
        }
      </Loaded>
    </>
  );
}

interface DayProps {
  label: string;
  value: string;
  min?: string;
  max?: string;
  onChange: (day: string | undefined) => void;
}

function Day({ label, value, min, max, onChange }: DayProps) {
  return (
    <label className={styles.day}>
      {label}
      <input
        type="date"
        value={value}
        min={min || undefined}
        max={max || undefined}
        onChange={(event) => onChange(event.target.value || undefined)}
      />
    </label>
  );
}

function ActTable({ acts, isCut }: { acts: readonly AuditEntry[]; isCut: boolean }) {
  return (
    <>
      {isCut && <PartialBadge kind="limited" why={`Only the newest ${acts.length} acts`} />}
      <div className={styles.box}>
        <DataTable
          label="Acts"
          noun="act"
          columns={COLUMNS}
          rows={acts}
          keyOf={({ seq }) => String(seq)}
        />
      </div>
    </>
  );
}

function Verify() {
  const query = useQuery(settingsQueries.verdict);
  return (
    <div className={styles.verify}>
      <Guarded
        can="audit:read:team"
        cli="godel audit verify"
        onClick={() => query.refetch()}
        refused={query.isFetching ? "It is being checked." : undefined}
      >
        {query.isFetching ? "Checking" : "Verify"}
      </Guarded>
      {query.error && <ErrorNotice error={query.error} />}
      {query.data && <Verdict verdict={query.data} />}
    </div>
  );
}

function Verdict({ verdict }: { verdict: AuditVerdict }) {
  if (verdict.whole) {
    return (
      <Notice tone="plain">
        The record is whole: {count(verdict.rows)} rows, up to number {count(verdict.upto)}.
      </Notice>
    );
  }
  return (
    <Notice tone="bad">
      Row {verdict.brokenAt} was altered: {verdict.why}
    </Notice>
  );
}
