import { useMutation, useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useAction } from "../../../actions/actions";
import { FILTER } from "../../../actions/common";
import type { Task } from "../../../api/types";
import { confirm } from "../../../change/confirm";
import { toast } from "../../../change/toasts";
import { tellRefusal } from "../../../change/useChange";
import { Guarded } from "../../../roles/Guarded";
import { setParams, useParam } from "../../../router/router";
import { Empty, EmptyFilter } from "../../../ui/Empty";
import { plural } from "../../../ui/format";
import { LinkButton } from "../../../ui/LinkButton";
import { Loaded } from "../../../ui/Loaded";
import { Menu, type MenuItem } from "../../../ui/Menu";
import { FilterBox, Select } from "../../../ui/PageHead";
import { SkeletonRows } from "../../../ui/Skeleton";
import { PartialBadge } from "../../../ui/Status";
import { saveAs } from "../../../ui/saveAs";
import styles from "../QueuePage.module.css";
import { queueQueries } from "../queries";
import { TaskTable } from "../TaskTable";
import { type DeadFormat, deadFile } from "./exportDead";
import {
  type DeadFilter,
  deadFlags,
  deadQuery,
  isFiltered,
  readAllDead,
  replayCli,
  replayQuestion,
  useReplay,
} from "./queries";
import { CAN_DELETE, deleteCli, useDeleteDead } from "./useDeleteDead";

/** What was tried as often as allowed: to look through, to try again, to take along. */
export function DeadLetters() {
  const filter = useDeadFilter();
  const query = useQuery(deadQuery(filter));
  const [acted, setActed] = useState<readonly string[]>([]);
  const onActed = (ids: readonly string[]) => setActed((before) => [...before, ...ids]);
  const deleteDead = useDeleteDead(onActed);
  const isSet = isFiltered(filter);
  const items = query.data?.items ?? [];
  // A list keeps still for others; what one has retried or looked for oneself shows at once.
  const gone = acted.filter((id) => !items.some((task) => task.id === id)).length;
  return (
    <>
      {(isSet || items.length > 0) && (
        <Tools
          filter={filter}
          isSet={isSet}
          many={items.length}
          isCut={query.data?.isCut ?? false}
          deleteAll={() => deleteDead({ filter })}
        />
      )}
      <Loaded query={query} what="The dead letters" skeleton={<SkeletonRows />}>
        {() => {
          if (items.length > 0) {
            return (
              <TaskTable
                key={`${query.isPlaceholderData} ${gone}`}
                label="Dead letters"
                tasks={items}
                verbs={["retry"]}
                onActed={onActed}
                more={deleting(deleteDead)}
              />
            );
          }
          if (isSet) return <EmptyFilter what="dead letters" onClear={clearFilter} />;
          return (
            <Empty
              icon="check"
              why="There are no dead letters: everything that was tried came to an end."
              action={<LinkButton to="/queue">See the tasks</LinkButton>}
              cli="godel dead list"
            />
          );
        }}
      </Loaded>
    </>
  );
}

/** What can be done with dead letters only: nobody needs them for good. */
function deleting(deleteDead: ReturnType<typeof useDeleteDead>) {
  return {
    itemsOf: (task: Task): MenuItem[] => [
      {
        id: "delete",
        title: "Delete",
        icon: "trash",
        can: CAN_DELETE,
        destructive: true,
        cli: deleteCli({ tasks: [task] }),
        run: () => deleteDead({ tasks: [task] }),
      },
    ],
    bulk: (tasks: readonly Task[]) => (
      <Guarded
        size="small"
        look="bad"
        can={CAN_DELETE}
        destructive
        cli={deleteCli({ tasks })}
        onClick={() => deleteDead({ tasks })}
      >
        Delete
      </Guarded>
    ),
  };
}

function useDeadFilter(): DeadFilter {
  const [pool = ""] = useParam("pool");
  const [error = ""] = useParam("error");
  const [title = ""] = useParam("q");
  return { pool, error, title };
}

function clearFilter(): void {
  setParams({ q: undefined, error: undefined, pool: undefined });
}

interface ToolsProps {
  filter: DeadFilter;
  isSet: boolean;
  many: number;
  isCut: boolean;
  deleteAll: () => void;
}

/** What is looked for, and what becomes of all of it. */
function Tools({ filter, isSet, many, isCut, deleteAll }: ToolsProps) {
  const input = useRef<HTMLInputElement>(null);
  useAction(FILTER, () => input.current?.focus(), { title: "Filter the dead letters" });
  const pools = useQuery(queueQueries.pools).data?.items ?? [];
  const none = many === 0 ? "The filter matches nothing." : undefined;
  const replayAll = useAskedReplay(filter);
  return (
    <div className={styles.tools}>
      <FilterBox
        ref={input}
        label="Filter by title"
        placeholder="Title"
        value={filter.title}
        onChange={(q) => setParams({ q: q || undefined })}
      />
      <FilterBox
        label="Filter by error"
        placeholder="Error"
        value={filter.error}
        onChange={(error) => setParams({ error: error || undefined })}
      />
      <Select
        label="Pool"
        value={filter.pool}
        options={[["", "Any pool"], ...pools.map(({ name }) => [name, name] as const)]}
        onChange={(pool) => setParams({ pool: pool || undefined })}
      />
      <span className={styles.note} title="Tried as often as allowed, or too late.">
        {plural(many, "dead letter")}
      </span>
      {isCut && <PartialBadge kind="limited" why={`Only the newest ${many}`} />}
      <ExportMenu filter={filter} refused={none} />
      <Guarded
        size="small"
        can="task:update:team"
        refused={none}
        cli={replayCli(filter)}
        onClick={replayAll}
      >
        {isSet ? "Retry those" : "Retry all"}
      </Guarded>
      <Guarded
        size="small"
        look="bad"
        can={CAN_DELETE}
        destructive
        refused={none}
        cli={deleteCli({ filter })}
        onClick={deleteAll}
      >
        {isSet ? "Delete those" : "Delete all"}
      </Guarded>
    </div>
  );
}

/** Replays after a question: many tasks at once are much work for somebody. */
function useAskedReplay(filter: DeadFilter) {
  const replay = useReplay();
  return async () => {
    const isSure = await confirm({
      title: replayQuestion(filter),
      body: "Each goes back into the queue with as many attempts as at first.",
      act: "Replay all",
      cli: replayCli(filter),
    });
    if (isSure) replay.mutate(filter);
  };
}

/** Writes what the filter lets through into a file, all of it. */
function ExportMenu({ filter, refused }: { filter: DeadFilter; refused: string | undefined }) {
  const write = useMutation({
    mutationFn: async (format: DeadFormat) => {
      const tasks = await readAllDead(filter);
      saveAs(`dead.${format}`, deadFile(tasks, format));
      return tasks.length;
    },
    onSuccess: (many) => toast({ title: `${plural(many, "dead letter")} exported` }),
    onError: (error, format) =>
      tellRefusal("Export the dead letters", error, () => write.mutate(format)),
  });
  const line = (format: DeadFormat, title: string) => ({
    id: format,
    title,
    refused,
    cli: `godel dead export${deadFlags(filter)} --format ${format} -o dead.${format}`,
    run: () => write.mutate(format),
  });
  return (
    <Menu
      label="Export the dead letters"
      button="Export"
      look="line"
      size="small"
      items={[line("jsonl", "As lines of JSON"), line("csv", "As CSV")]}
    />
  );
}
