import { useQuery } from "@tanstack/react-query";
import type { RunRow } from "../../api/types";
import { navigate, useParam } from "../../router/router";
import { Empty } from "../../ui/Empty";
import { plural } from "../../ui/format";
import { LinkButton } from "../../ui/LinkButton";
import { Loaded } from "../../ui/Loaded";
import { ShortId } from "../../ui/ShortId";
import { SkeletonRows } from "../../ui/Skeleton";
import { PartialBadge } from "../../ui/Status";
import { Time } from "../../ui/Time";
import { type Column, DataTable } from "../../ui/table/DataTable";
import styles from "./QueuePage.module.css";
import { queueQueries } from "./queries";
import { StateBadge } from "./StateBadge";

const COLUMNS: readonly Column<RunRow>[] = [
  {
    id: "name",
    title: "Workflow",
    width: "minmax(140px, 2fr)",
    sortBy: ({ name }) => name,
    cell: ({ name }) => <strong>{name}</strong>,
  },
  {
    id: "state",
    title: "State",
    width: "130px",
    sortBy: ({ state }) => state,
    cell: ({ state }) => <StateBadge state={state} />,
  },
  {
    id: "created",
    title: "Started",
    width: "96px",
    sortBy: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
  {
    id: "updated",
    title: "Moved on",
    width: "96px",
    sortBy: ({ updatedAt }) => updatedAt,
    cell: ({ updatedAt }) => <Time at={updatedAt} />,
  },
  { id: "id", title: "Id", width: "110px", cell: ({ id }) => <ShortId id={id} /> },
];

/** Runs of workflows, the newest first; a run shows its steps. */
export function RunList() {
  const query = useQuery(queueQueries.runs);
  const workflows = useQuery(queueQueries.workflows);
  const [run, setRun] = useParam("run");
  return (
    <Loaded query={query} what="The runs" skeleton={<SkeletonRows />}>
      {({ items, isCut }) =>
        items.length === 0 ? (
          <Empty
            icon="branch"
            why="No workflow was run yet. A workflow is a file of steps that depend on each other."
            action={<LinkButton to="/queue">See the tasks</LinkButton>}
            cli="godel workflow run release.yaml"
          />
        ) : (
          <>
            <div className={styles.tools}>
              <span className={styles.note}>
                {plural(items.length, "run")}
                {workflows.data && `, ${plural(workflows.data.items.length, "stored workflow")}`}
              </span>
              {isCut && <PartialBadge kind="limited" why={`Only the newest ${items.length}`} />}
            </div>
            <DataTable
              label="Runs"
              noun="run"
              sortParam="runSort"
              columns={COLUMNS}
              rows={items}
              keyOf={({ id }) => id}
              onOpen={({ id }) => navigate(`/queue/runs/${id}`)}
              onPeek={({ id }) => setRun(id)}
              peeked={run}
            />
          </>
        )
      }
    </Loaded>
  );
}
