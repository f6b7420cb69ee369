import { useState } from "react";
import { useAction } from "../../../actions/actions";
import { BACK } from "../../../actions/common";
import type { Agent, AgentSnapshot, Talk, TalkNode } from "../../../api/types";
import { Guarded } from "../../../roles/Guarded";
import { Cli } from "../../../ui/Cli";
import { SidePanel } from "../../../ui/Drawer";
import { shellWord } from "../../../ui/format";
import { Money } from "../../../ui/Money";
import panel from "../../../ui/Panel.module.css";
import { Time } from "../../../ui/Time";
import { SnapshotLine } from "../snapshots/SnapshotLine";
import lines from "../snapshots/Snapshots.module.css";
import { useForeignAgent } from "../useForeignAgent";
import styles from "./NodePanel.module.css";
import { busyWith, useBranchAt, useForkAt, useSwitchTo } from "./queries";
import { KINDS } from "./TreeRow";
import type { TalkTree } from "./tree";

interface NodePanelProps {
  agent: Agent;
  talk: Talk;
  tree: TalkTree;
  node: TalkNode;
  snapshots: readonly AgentSnapshot[];
  onClose: () => void;
}

/** One node: all that was said, and how to go on from it. */
export function NodePanel({ agent, talk, tree, node, snapshots, onClose }: NodePanelProps) {
  useAction(BACK, onClose, { title: "Close the panel" });
  const fork = useForkAt();
  const kept = snapshots.filter((one) => one.node === node.number);
  const cli = `godel session fork ${agent.label} --node ${node.number}`;
  return (
    <SidePanel
      label="One node"
      head={`#${node.number} ${KINDS[node.kind]?.word ?? node.kind}`}
      onClose={onClose}
    >
      <div className={panel.stack}>
        <div className={styles.line}>
          <Guarded
            look="solid"
            size="small"
            can="session:create:own"
            cli={cli}
            onClick={() => fork.mutate({ agent, node: node.number })}
          >
            Fork here
          </Guarded>
          <span className={styles.soft}>Another agent goes on, on a bead of its own.</span>
        </div>
        {(node.at != null || node.costMicros != null) && (
          <p className={styles.soft} data-node-facts>
            {node.at != null && (
              <>
                Kept <Time at={node.at} />
              </>
            )}
            {node.costMicros != null && (
              <>
                {node.at != null && ", "}cost <Money micros={node.costMicros} />
              </>
            )}
          </p>
        )}
        <pre className={styles.text}>{node.text}</pre>
        {kept.length > 0 && (
          <section aria-label="Snapshots">
            <h3 className={panel.head}>Snapshots</h3>
            <ul className={lines.list}>
              {kept.map((one) => (
                <SnapshotLine key={one.id} snapshot={one} />
              ))}
            </ul>
          </section>
        )}
        <Branches agent={agent} talk={talk} tree={tree} node={node} />
        <Cli command={cli} />
      </div>
    </SidePanel>
  );
}

function Branches({ agent, talk, tree, node }: Omit<NodePanelProps, "snapshots" | "onClose">) {
  const [name, setName] = useState("");
  const branch = useBranchAt();
  const change = useSwitchTo();
  const others = (tree.marks.get(node.number)?.branches ?? []).filter((one) => one !== talk.branch);
  const foreign = useForeignAgent();
  const refused = foreign(agent) ?? busyWith(agent);
  const missing = name.trim() === "" ? "Give the branch a name first." : undefined;
  return (
    <section className={styles.branches} aria-label="Branches">
      <h3 className={panel.head}>Branches</h3>
      {others.map((one) => (
        <Guarded
          key={one}
          size="small"
          can="session:update:own"
          refused={refused}
          cli={`godel session switch ${agent.label} ${shellWord(one)}`}
          onClick={() => change.mutate({ agent, name: one, before: talk.branch })}
        >
          Go on with {one}
        </Guarded>
      ))}
      <label className={styles.name}>
        Name of a new branch
        <input value={name} maxLength={100} onChange={(event) => setName(event.target.value)} />
      </label>
      <Guarded
        size="small"
        can="session:update:own"
        refused={refused ?? missing}
        cli={`godel session branch ${agent.label} ${shellWord(name.trim() || "NAME")} --node ${node.number}`}
        onClick={() =>
          branch.mutate(
            { agent, node: node.number, name: name.trim() },
            { onSuccess: () => setName("") },
          )
        }
      >
        Begin a branch here
      </Guarded>
    </section>
  );
}
