import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import type { Agent, AgentSnapshot, Talk } from "../../../api/types";
import { setParams, useParam } from "../../../router/router";
import { Boundary } from "../../../ui/Boundary";
import { Button } from "../../../ui/Button";
import { Empty } from "../../../ui/Empty";
import { plural } from "../../../ui/format";
import { Loaded } from "../../../ui/Loaded";
import { Money } from "../../../ui/Money";
import { SkeletonRows } from "../../../ui/Skeleton";
import { Badge, PartialBadge } from "../../../ui/Status";
import { useRows } from "../../../ui/table/useRows";
import { useKeepInView, useVirtual } from "../../../ui/table/useVirtual";
import { SnapshotDrawer } from "../snapshots/SnapshotDrawer";
import { Compare } from "./Compare";
import { NodePanel } from "./NodePanel";
import { type Nodes, sessionQueries } from "./queries";
import { SessionMenu } from "./SessionMenu";
import styles from "./SessionTree.module.css";
import { ROW_HEIGHT, TreeRow } from "./TreeRow";
import { foldsWith, leavesOf, linesOf, type TalkTree, treeOf } from "./tree";

/** The conversation of an agent as a tree: forks are branches, what is in a row is folded. */
export function SessionTree({ agent }: { agent: Agent }) {
  const talk = useQuery(sessionQueries.talk(agent));
  const nodes = useQuery(sessionQueries.nodes(agent));
  const { data } = useQuery(sessionQueries.snapshots);
  const snapshots = useMemo(
    () => data?.items.filter(({ agentId }) => agentId === agent.id) ?? [],
    [data, agent.id],
  );
  return (
    <Loaded query={talk} what="The session" skeleton={<SkeletonRows />}>
      {(known) => (
        <Loaded query={nodes} what="The nodes" skeleton={<SkeletonRows />}>
          {(all) =>
            all.items.length === 0 ? (
              <Empty
                icon="message"
                why="Nothing was said yet."
                cli={`godel session tree ${agent.label}`}
              />
            ) : (
              <Shown agent={agent} talk={known} nodes={all} snapshots={snapshots} />
            )
          }
        </Loaded>
      )}
    </Loaded>
  );
}

interface ShownProps {
  agent: Agent;
  talk: Talk;
  nodes: Nodes;
  snapshots: readonly AgentSnapshot[];
}

function Shown({ agent, talk, nodes, snapshots }: ShownProps) {
  const tree = useMemo(() => treeOf(talk, nodes.items, snapshots), [talk, nodes.items, snapshots]);
  const [word, setNode] = useParam("node");
  const chosen = word === undefined ? undefined : tree.nodes.get(Number(word));
  const [mode, setMode] = useParam("compare");
  const [isWhole, setWhole] = useState(false);
  const [kept, setKept] = useParam("snapshots");
  const leaves = useMemo(() => leavesOf(tree), [tree]);
  const choose = (number: number | undefined) => setNode(number?.toString());
  return (
    <div className={styles.view}>
      <div className={styles.main}>
        <div className={styles.tools}>
          <span className={styles.note}>
            {plural(nodes.items.length, "node")}, {plural(leaves.length, "end")}, on{" "}
            <strong>{talk.branch}</strong>
          </span>
          <SessionFacts agent={agent} talk={talk} isCut={nodes.isCut} />
          <span className={styles.acts}>
            {mode === undefined && (
              <Button size="small" onClick={() => setWhole(!isWhole)}>
                {isWhole ? "Fold what is in a row" : "Unfold all"}
              </Button>
            )}
            {leaves.length > 1 && (
              <Button size="small" onClick={() => setMode(mode === undefined ? "ends" : undefined)}>
                {mode === undefined ? "Compare two ends" : "Show the tree"}
              </Button>
            )}
            <Button
              size="small"
              disabled={tree.head === undefined}
              onClick={() => setParams({ compare: undefined, node: tree.head?.toString() })}
            >
              Go to the live end
            </Button>
            <Button size="small" onClick={() => setKept("1")}>
              Snapshots{snapshots.length > 0 && `, ${snapshots.length}`}
            </Button>
            <SessionMenu agent={agent} talk={talk} />
          </span>
        </div>
        {mode !== undefined && leaves.length > 1 ? (
          <Compare agent={agent} tree={tree} leaves={leaves} snapshots={snapshots} />
        ) : (
          <Lines tree={tree} isWhole={isWhole} chosen={chosen?.number} onChoose={choose} />
        )}
      </div>
      {kept !== undefined && <SnapshotDrawer agent={agent} onClose={() => setKept(undefined)} />}
      {chosen && mode === undefined && (
        <Boundary key={chosen.number} what="The node">
          <NodePanel
            agent={agent}
            talk={talk}
            tree={tree}
            node={chosen}
            snapshots={snapshots}
            onClose={() => choose(undefined)}
          />
        </Boundary>
      )}
    </div>
  );
}

function SessionFacts({ agent, talk, isCut }: { agent: Agent; talk: Talk; isCut: boolean }) {
  return (
    <>
      {typeof agent.spentMicros === "number" && (
        <span className={styles.note}>
          <Money micros={agent.spentMicros} /> in all
        </span>
      )}
      {talk.status !== "active" && <Badge>{talk.status}</Badge>}
      {isCut && <PartialBadge kind="limited" why="The conversation is longer" />}
    </>
  );
}

interface LinesProps {
  tree: TalkTree;
  isWhole: boolean;
  chosen: number | undefined;
  onChoose: (number: number) => void;
}

function Lines({ tree, isWhole, chosen, onChoose }: LinesProps) {
  // Who comes by an address finds the node, although it would be folded.
  const [opened, setOpened] = useState(() => foldsWith(tree, chosen));
  const lines = useMemo(() => linesOf(tree, isWhole ? "all" : opened), [tree, isWhole, opened]);
  const box = useRef<HTMLDivElement>(null);
  const { first, end, offset, total } = useVirtual(box, lines.length, ROW_HEIGHT);
  const press = (line: (typeof lines)[number]) => {
    if (line.folded.length > 0) setOpened(new Set([...opened, line.number]));
    else onChoose(line.number);
  };
  const { cursor } = useRows({
    rows: lines,
    keyOf: ({ key }) => key,
    onOpen: press,
    onPeek: press,
  });
  const chosenAt = lines.findIndex(
    ({ number, folded }) => number === chosen && folded.length === 0,
  );
  useKeepInView(box, chosenAt, ROW_HEIGHT);
  const cursorAt = cursor === undefined ? -1 : lines.findIndex(({ key }) => key === cursor);
  useKeepInView(box, cursorAt, ROW_HEIGHT);
  return (
    <div ref={box} className={styles.box}>
      <ol
        className={styles.lines}
        aria-label="Session tree"
        data-lines={lines.length}
        style={{ height: total, paddingTop: offset }}
      >
        {lines.slice(first, end).map((line) => (
          <TreeRow
            key={line.key}
            line={line}
            tree={tree}
            isChosen={line.folded.length === 0 && line.number === chosen}
            isCursor={line.key === cursor}
            onPress={() => press(line)}
          />
        ))}
      </ol>
    </div>
  );
}
