import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useAction } from "../../actions/actions";
import { CREATE } from "../../actions/common";
import type { Listing } from "../../api/list";
import type { RunRow } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { navigate, useChoice, useParam } from "../../router/router";
import { Empty } from "../../ui/Empty";
import { count } from "../../ui/format";
import { Loaded } from "../../ui/Loaded";
import { ShortId } from "../../ui/ShortId";
import { SkeletonRows } from "../../ui/Skeleton";
import { PartialBadge } from "../../ui/Status";
import { Segmented } from "../../ui/Tabs";
import { Time } from "../../ui/Time";
import { type Column, DataTable } from "../../ui/table/DataTable";
import { peekAt } from "./peek";
import styles from "./QueuePage.module.css";
import { queueQueries } from "./queries";
import { StateBadge } from "./StateBadge";
import { RunDrawer } from "./workflows/RunDrawer";
import { SaveDrawer } from "./workflows/SaveDrawer";
import { StoredList } from "./workflows/StoredList";
import workflowStyles from "./workflows/workflows.module.css";

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

const VIEWS = ["runs", "stored"] as const;

/** Runs of workflows, the newest first, or the workflows that are stored. */
export function RunList() {
  const runs = useQuery(queueQueries.runs);
  const stored = useQuery(queueQueries.workflows);
  const [view, setView] = useChoice("flows", VIEWS, "runs");
  const [start, setStart] = useParam("start");
  const [saved, setSaved] = useParam("save");
  const run = () => setStart("1");
  const save = () => setSaved("1");
  useAction(CREATE, save, { title: "Save a workflow", cli: "godel workflow save FILE" });
  return (
    <>
      <div className={styles.tools}>
        <Segmented
          label="What is shown"
          options={[
            { id: "runs", title: `Runs${howMany(runs.data)}` },
            { id: "stored", title: `Stored${howMany(stored.data)}` },
          ]}
          value={view}
          onChange={setView}
        />
        {view === "runs" && runs.data?.isCut && (
          <PartialBadge kind="limited" why={`Only the newest ${runs.data.items.length}`} />
        )}
        <div className={workflowStyles.push}>
          <SaveButton onSave={save} />
          <RunButton onRun={run} />
        </div>
      </div>
      {view === "stored" ? (
        <StoredList query={stored} action={<SaveButton onSave={save} />} />
      ) : (
        <Runs query={runs} action={<RunButton onRun={run} />} />
      )}
      {start !== undefined && (
        <RunDrawer
          key={`run ${start}`}
          name={start === "1" ? undefined : start}
          onClose={() => setStart(undefined)}
        />
      )}
      {saved !== undefined && (
        <SaveDrawer
          key={`save ${saved}`}
          name={saved === "1" ? undefined : saved}
          onClose={() => setSaved(undefined)}
        />
      )}
    </>
  );
}

interface RunsProps {
  query: UseQueryResult<Listing<RunRow>>;
  /** What is offered where there is none. */
  action: ReactNode;
}

/** Runs as rows; a run shows its steps. */
function Runs({ query, action }: RunsProps) {
  const [run] = useParam("run");
  return (
    <Loaded query={query} what="The runs" skeleton={<SkeletonRows />}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty
            icon="branch"
            why="No workflow was run yet. A workflow is a file of steps that depend on each other."
            action={action}
            cli="godel workflow run release.yaml"
          />
        ) : (
          <DataTable
            label="Runs"
            noun="run"
            sortParam="runSort"
            columns={COLUMNS}
            rows={items}
            keyOf={({ id }) => id}
            onOpen={({ id }) => navigate(`/queue/runs/${id}`)}
            onPeek={({ id }) => peekAt("run", id)}
            peeked={run}
          />
        )
      }
    </Loaded>
  );
}

function RunButton({ onRun }: { onRun: () => void }) {
  return (
    <Guarded
      size="small"
      look="solid"
      align="end"
      can="workflow:execute:own"
      cli="godel workflow run FILE"
      onClick={onRun}
    >
      Run a workflow
    </Guarded>
  );
}

function SaveButton({ onSave }: { onSave: () => void }) {
  return (
    <Guarded
      size="small"
      align="end"
      can="workflow:create:own"
      cli="godel workflow save FILE"
      onClick={onSave}
    >
      Save a workflow
    </Guarded>
  );
}

function howMany(listing: Listing<unknown> | undefined): string {
  return listing ? ` ${count(listing.items.length)}` : "";
}
