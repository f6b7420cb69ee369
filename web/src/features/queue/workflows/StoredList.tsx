import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Listing } from "../../../api/list";
import type { Workflow } from "../../../api/types";
import { Guarded } from "../../../roles/Guarded";
import { setParams } from "../../../router/router";
import { Button } from "../../../ui/Button";
import { Empty } from "../../../ui/Empty";
import { shellWord } from "../../../ui/format";
import { Loaded } from "../../../ui/Loaded";
import { Menu } from "../../../ui/Menu";
import { SkeletonRows } from "../../../ui/Skeleton";
import { Time } from "../../../ui/Time";
import { Line, Lines } from "../../settings/Section";
import { peekAt } from "../peek";
import styles from "../QueuePage.module.css";
import { useWorkflowActs } from "./useWorkflowActs";

interface StoredListProps {
  query: UseQueryResult<Listing<Workflow>>;
  /** What is offered where there is none. */
  action: ReactNode;
}

/** The workflows that are stored, each with what can be done with it. */
export function StoredList({ query, action }: StoredListProps) {
  const menuOf = useWorkflowActs();
  return (
    <div className={styles.list}>
      <div className={styles.stack}>
        <Loaded query={query} what="The workflows" skeleton={<SkeletonRows rows={3} height={54} />}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty
                icon="branch"
                why="No workflow is stored yet. A stored one is run by its name, by anybody."
                action={action}
                cli="godel workflow save release.yaml"
              />
            ) : (
              <Lines label="Stored workflows">
                {items.map((workflow) => (
                  <StoredLine key={workflow.id} workflow={workflow} menu={menuOf(workflow)} />
                ))}
              </Lines>
            )
          }
        </Loaded>
      </div>
    </div>
  );
}

interface StoredLineProps {
  workflow: Workflow;
  menu: ReturnType<ReturnType<typeof useWorkflowActs>>;
}

function StoredLine({ workflow, menu }: StoredLineProps) {
  const { name, version, updatedAt } = workflow;
  return (
    <Line
      id={name}
      title={name}
      note={
        <>
          Version {version}, changed <Time at={updatedAt} />
        </>
      }
      acts={
        <>
          <Button size="small" onClick={() => peekAt("workflow", name)}>
            View
          </Button>
          <Guarded
            size="small"
            align="end"
            can="workflow:execute:own"
            cli={`godel workflow run ${shellWord(name)}`}
            onClick={() => setParams({ start: name })}
          >
            Run
          </Guarded>
          <Menu label={`Do something with the workflow ${name}`} size="small" items={menu} />
        </>
      }
    />
  );
}
