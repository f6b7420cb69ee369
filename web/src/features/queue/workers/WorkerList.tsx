import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Worker } from "../../../api/types";
import { useParam } from "../../../router/router";
import { Empty, EmptyFilter } from "../../../ui/Empty";
import { plural } from "../../../ui/format";
import { LinkButton } from "../../../ui/LinkButton";
import { Loaded } from "../../../ui/Loaded";
import { Menu } from "../../../ui/Menu";
import { Select } from "../../../ui/PageHead";
import { ShortId } from "../../../ui/ShortId";
import { SkeletonRows } from "../../../ui/Skeleton";
import { PartialBadge } from "../../../ui/Status";
import { Time } from "../../../ui/Time";
import { type Column, DataTable } from "../../../ui/table/DataTable";
import { peekAt } from "../peek";
import styles from "../QueuePage.module.css";
import { StateBadge } from "../StateBadge";
import { Heard } from "./Heard";
import { workerQueries } from "./queries";
import { useWorkerActs, useWorkerKeys } from "./useWorkerActs";

/** Those who need a look first. */
const ORDER = ["error", "paused", "busy", "idle", "offline"];

const COLUMNS: readonly Column<Worker>[] = [
  {
    id: "name",
    title: "Worker",
    width: "minmax(140px, 2fr)",
    sortBy: ({ name }) => name,
    cell: ({ name }) => <strong>{name}</strong>,
  },
  {
    id: "state",
    title: "State",
    width: "110px",
    sortBy: ({ status }) => ORDER.indexOf(status),
    cell: ({ status }) => <StateBadge state={status} />,
  },
  {
    id: "load",
    title: "Has",
    width: "84px",
    isNumber: true,
    sortBy: ({ load, capacity }) => load / Math.max(1, capacity),
    cell: ({ load, capacity }) => `${load} of ${capacity}`,
  },
  {
    id: "pool",
    title: "Pool",
    width: "100px",
    sortBy: ({ pool }) => pool,
    cell: ({ pool }) => pool,
  },
  {
    id: "able",
    title: "Can do",
    width: "minmax(120px, 2fr)",
    cell: ({ capabilities, error }) => error ?? capabilities.join(", "),
  },
  {
    id: "heard",
    title: "Last heard",
    width: "140px",
    sortBy: ({ seenAt }) => seenAt,
    cell: (worker) => <Heard worker={worker} />,
  },
  {
    id: "since",
    title: "Came",
    width: "84px",
    sortBy: ({ registeredAt }) => registeredAt,
    cell: ({ registeredAt }) => <Time at={registeredAt} />,
  },
  { id: "id", title: "Id", width: "92px", cell: ({ id }) => <ShortId id={id} /> },
];

/** Who takes tasks from the queue, how they are, and what they can do. */
export function WorkerList() {
  const query = useQuery(workerQueries.all);
  const [who = "", setWho] = useParam("workers");
  const [removed, setRemoved] = useState<readonly string[]>([]);
  const all = query.data?.items;
  const workers = useMemo(
    () => (all ?? []).filter(({ status }) => who === "all" || status !== "offline"),
    [all, who],
  );
  return (
    <>
      <div className={styles.tools}>
        <Select
          label="Which workers"
          value={who}
          options={[
            ["", "Here now"],
            ["all", "Also gone"],
          ]}
          onChange={setWho}
        />
        {all && <span className={styles.note}>{plural(workers.length, "worker")}</span>}
        {query.data?.isCut && (
          <PartialBadge kind="limited" why={`Only the newest ${all?.length}`} />
        )}
      </div>
      <Loaded query={query} what="The workers" skeleton={<SkeletonRows />}>
        {({ items }) => {
          if (workers.length > 0) {
            return (
              <Table
                // A list keeps still for others; whom one has removed oneself goes at once.
                key={removed.filter((gone) => !workers.some(({ id }) => id === gone)).length}
                workers={workers}
                onRemoved={(id) => setRemoved([...removed, id])}
              />
            );
          }
          if (items.length > 0) {
            return <EmptyFilter what="workers" onClear={() => setWho("all")} />;
          }
          return (
            <Empty
              icon="agents"
              why="No worker is here, so tasks wait. A worker is any program that takes them."
              action={<LinkButton to="/queue">See the tasks</LinkButton>}
              cli="godel worker run --pool ci -- ./build.sh"
            />
          );
        }}
      </Loaded>
    </>
  );
}

function Table({
  workers,
  onRemoved,
}: {
  workers: readonly Worker[];
  onRemoved: (id: string) => void;
}) {
  const { act, menuOf } = useWorkerActs(onRemoved);
  const [peeked] = useParam("worker");
  const [cursor, setCursor] = useState<string>();
  useWorkerKeys(
    workers.find(({ id }) => id === (cursor ?? peeked)),
    act,
  );
  return (
    <DataTable
      label="Workers"
      noun="worker"
      sortParam="workerSort"
      columns={[
        ...COLUMNS,
        {
          id: "acts",
          title: "",
          width: "44px",
          cell: (worker) => (
            <Menu label={`Do something with ${worker.name}`} size="small" items={menuOf(worker)} />
          ),
        },
      ]}
      rows={workers}
      keyOf={({ id }) => id}
      onOpen={({ id }) => peekAt("worker", id)}
      onPeek={({ id }) => peekAt("worker", id)}
      peeked={peeked}
      onCursor={setCursor}
    />
  );
}
