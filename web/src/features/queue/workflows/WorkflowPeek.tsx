import { useQuery } from "@tanstack/react-query";
import { useAction } from "../../../actions/actions";
import { BACK } from "../../../actions/common";
import type { Workflow } from "../../../api/types";
import { Guarded } from "../../../roles/Guarded";
import { setParams } from "../../../router/router";
import { Cli } from "../../../ui/Cli";
import { CopyButton } from "../../../ui/CopyButton";
import { SidePanel } from "../../../ui/Drawer";
import { shellWord, words } from "../../../ui/format";
import { Loaded } from "../../../ui/Loaded";
import { Menu } from "../../../ui/Menu";
import panel from "../../../ui/Panel.module.css";
import { SkeletonRows } from "../../../ui/Skeleton";
import { Badge } from "../../../ui/Status";
import { Time } from "../../../ui/Time";
import { outlineQuery, workflowQuery } from "./queries";
import { useWorkflowActs } from "./useWorkflowActs";
import styles from "./workflows.module.css";

/** One stored workflow: its steps, its text, and what can be done with it. */
export function WorkflowPeek({ name, onClose }: { name: string; onClose: () => void }) {
  useAction(BACK, onClose, { title: "Close the panel" });
  const query = useQuery(workflowQuery(name));
  return (
    <SidePanel label="One workflow" head={name} onClose={onClose}>
      <Loaded query={query} what="The workflow" skeleton={<SkeletonRows rows={6} />}>
        {(workflow) => <Details workflow={workflow} />}
      </Loaded>
    </SidePanel>
  );
}

function Details({ workflow }: { workflow: Workflow }) {
  const menuOf = useWorkflowActs();
  const outline = useQuery(outlineQuery(workflow.name));
  const source = workflow.source ?? "";
  const word = shellWord(workflow.name);
  return (
    <div className={panel.stack}>
      <div className={panel.line}>
        <Guarded
          size="small"
          look="solid"
          can="workflow:execute:own"
          cli={`godel workflow run ${word}`}
          onClick={() => setParams({ start: workflow.name })}
        >
          Run
        </Guarded>
        <Menu
          label={`More for ${workflow.name}`}
          size="small"
          items={menuOf(workflow).filter(({ id }) => id !== "view" && id !== "run")}
        />
        <span className={styles.note}>
          Version {workflow.version}, changed <Time at={workflow.updatedAt} />
        </span>
      </div>
      <section aria-label="Steps">
        <h3 className={panel.head}>Steps</h3>
        <Loaded query={outline} what="The steps" skeleton={<SkeletonRows rows={3} />}>
          {({ steps }) => (
            <ol className={styles.steps}>
              {steps.map(({ id, kind, dependsOn, wave }) => (
                <li key={id} data-step={id}>
                  <strong>{id}</strong>
                  {kind !== "task" && <Badge>{words(kind)}</Badge>}
                  <span className={styles.note}>
                    wave {wave}
                    {dependsOn.length > 0 && `, after ${dependsOn.join(", ")}`}
                  </span>
                </li>
              ))}
            </ol>
          )}
        </Loaded>
      </section>
      <section aria-label="Text">
        <h3 className={panel.head}>Text</h3>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
        <pre className={styles.source} tabIndex={0}>
          {source}
        </pre>
        <CopyButton text={source} />
      </section>
      <Cli command={`godel workflow show ${word}`} />
    </div>
  );
}
