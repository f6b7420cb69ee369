import type { ModelCall } from "../../api/types";
import { useParam } from "../../router/router";
import { Button } from "../../ui/Button";
import { count, plural } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Money } from "../../ui/Money";
import { ShortId } from "../../ui/ShortId";
import { PartialBadge, Status } from "../../ui/Status";
import { Time } from "../../ui/Time";
import { type Column, DataTable } from "../../ui/table/DataTable";
import { csvOf, saveFile } from "./csv";
import { NothingSpent } from "./NothingSpent";
import type { Range } from "./range";
import { boxHeight, fileName, percent } from "./SplitTable";
import styles from "./SplitTable.module.css";
import { cacheHit } from "./spend";

const number = (
  id: string,
  title: string,
  value: (call: ModelCall) => number,
): Column<ModelCall> => ({
  id,
  title,
  width: "92px",
  isNumber: true,
  sortBy: value,
  cell: (call) => count(value(call)),
});

const COLUMNS: readonly Column<ModelCall>[] = [
  {
    id: "time",
    title: "When",
    width: "84px",
    sortBy: ({ timestamp }) => timestamp,
    cell: ({ timestamp }) => <Time at={timestamp} />,
  },
  {
    id: "model",
    title: "Model",
    width: "minmax(130px, 2fr)",
    sortBy: ({ model }) => model,
    cell: ({ model }) => model,
  },
  {
    id: "agent",
    title: "Agent",
    width: "minmax(90px, 1fr)",
    sortBy: ({ agentId }) => agentId ?? "",
    cell: ({ agentId }) => (agentId ? <ShortId id={agentId} /> : "-"),
  },
  {
    id: "outcome",
    title: "Outcome",
    width: "110px",
    sortBy: ({ outcome }) => outcome,
    cell: (call) => <Outcome call={call} />,
  },
  number("input", "Input", (call) => allInput(call)),
  {
    id: "cache",
    title: "Cache hit",
    width: "88px",
    isNumber: true,
    sortBy: (call) => cacheHit(call) ?? -1,
    cell: (call) => percent(cacheHit(call)),
  },
  number("output", "Output", ({ outputTokens }) => outputTokens),
  {
    id: "cost",
    title: "Cost",
    width: "100px",
    isNumber: true,
    sortBy: ({ costMicros }) => costMicros ?? -1,
    cell: (call) => <CallPrice call={call} />,
  },
];

interface CallTableProps {
  calls: readonly ModelCall[];
  isCut: boolean;
  range: Range;
}

/** Single requests; each attempt to get an answer is a line. */
export function CallTable({ calls, isCut, range }: CallTableProps) {
  const [peeked, setPeeked] = useParam("call");
  if (calls.length === 0) {
    return <NothingSpent why="No model was asked in this time." cli="godel calls --since 24h" />;
  }
  const sum = calls.reduce((micros, call) => micros + (call.costMicros ?? 0), 0);
  return (
    <div className={styles.part}>
      <div className={styles.head}>
        <p data-total={sum}>
          <strong>
            <Money micros={sum} />
          </strong>{" "}
          for {plural(calls.length, "attempt")}{" "}
          {isCut && (
            <PartialBadge kind="limited" why={`Only the newest ${calls.length} are read`} />
          )}
        </p>
        <Button size="small" onClick={() => saveFile(fileName("requests", range), callCsv(calls))}>
          <Icon name="down" size={13} />
          CSV
        </Button>
      </div>
      <div className={styles.box} style={{ height: boxHeight(calls.length) }}>
        <DataTable
          label="Requests"
          noun="request"
          sortParam="callSort"
          columns={COLUMNS}
          rows={calls}
          keyOf={({ id }) => id}
          onOpen={({ id }) => setPeeked(id)}
          onPeek={({ id }) => setPeeked(id)}
          peeked={peeked}
        />
      </div>
    </div>
  );
}

/** What a request cost, or why that is not known. */
export function CallPrice({ call }: { call: ModelCall }) {
  if (call.paidBy === "login") return <span title="A subscription paid it">subscription</span>;
  if (call.paidBy === "cache") return <span title="The answer was given again">from cache</span>;
  if (call.costMicros === null || call.costMicros === undefined) return <Money micros={null} />;
  return (
    <>
      {call.estimated && <span title="An estimate: the provider did not tell">~</span>}
      <Money micros={call.costMicros} />
    </>
  );
}

/** How a request ended. */
export function Outcome({ call }: { call: ModelCall }) {
  if (call.success) {
    return (
      <Status tone="ok" icon="check">
        Answered
      </Status>
    );
  }
  const isQuiet = call.outcome === "cancelled";
  return (
    <Status tone={isQuiet ? "plain" : "bad"} icon={isQuiet ? "stop" : "cross"}>
      {`${call.outcome[0]?.toUpperCase()}${call.outcome.slice(1)}`}
    </Status>
  );
}

/** All input, known to a cache or not. */
export function allInput(call: ModelCall): number {
  return call.inputTokens + call.cacheReadTokens + call.cacheWriteTokens;
}

function callCsv(calls: readonly ModelCall[]): string {
  const head = [
    "timestamp",
    "id",
    "provider",
    "model",
    "agent",
    "bead",
    "outcome",
    "inputTokens",
    "cacheReadTokens",
    "cacheWriteTokens",
    "outputTokens",
    "costMicros",
    "price",
    "savedByCacheMicros",
    "savedByRoutingMicros",
  ];
  const rows = calls.map((call) => [
    call.timestamp,
    call.id,
    call.provider,
    call.model,
    call.agentId ?? "",
    call.beadId ?? "",
    call.outcome,
    call.inputTokens,
    call.cacheReadTokens,
    call.cacheWriteTokens,
    call.outputTokens,
    call.costMicros ?? "",
    call.price ?? "",
    call.savedByCacheMicros ?? 0,
    call.savedByRoutingMicros ?? 0,
  ]);
  return csvOf(head, rows);
}
