import type { Agent, AgentSnapshot } from "../../../api/types";
import { useParam } from "../../../router/router";
import { plural } from "../../../ui/format";
import { Money } from "../../../ui/Money";
import { Select } from "../../../ui/PageHead";
import { ShortId } from "../../../ui/ShortId";
import { PartialBadge } from "../../../ui/Status";
import styles from "./Compare.module.css";
import { EndFiles } from "./EndFiles";
import { KINDS } from "./TreeRow";
import { compare, costOf, summaryOf, type TalkTree, tally } from "./tree";

/** So many nodes of each side are listed. */
const MOST = 300;

interface CompareProps {
  agent: Agent;
  tree: TalkTree;
  leaves: readonly number[];
  snapshots: readonly AgentSnapshot[];
}

/** Two ends side by side: what both share, what each said alone, and what their files differ in. */
export function Compare({ agent, tree, leaves, snapshots }: CompareProps) {
  const [one, setOne] = useParam("left");
  const [two, setTwo] = useParam("right");
  const known = (word: string | undefined, other: number) =>
    leaves.find((leaf) => String(leaf) === word) ?? leaves.at(other) ?? 0;
  const left = known(one, 0);
  const right = known(two, -1);
  const found = compare(tree, left, right);
  const options = leaves.map((leaf) => [String(leaf), nameOf(tree, leaf)] as const);
  const sides = [
    { id: "left", title: "First end", leaf: left, set: setOne, nodes: found.left },
    { id: "right", title: "Second end", leaf: right, set: setTwo, nodes: found.right },
  ] as const;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by key
    <div className={styles.box} tabIndex={0}>
      <p className={styles.shared}>
        {found.shared === undefined
          ? "They share nothing."
          : `They share ${plural(found.both, "node")}, up to #${found.shared}.`}
      </p>
      <div className={styles.sides}>
        {sides.map(({ id, title, leaf, set, nodes }) => (
          <section key={id} aria-label={title} className={styles.side}>
            <Select label={title} value={String(leaf)} options={options} onChange={set} />
            <p className={styles.sum}>
              {nodes.length === 0
                ? "Nothing of its own."
                : `${plural(nodes.length, "node")} of its own: ${tally(tree, nodes)}`}{" "}
              {nodes.length > MOST && <PartialBadge kind="limited" why={`The first ${MOST}`} />}
            </p>
            <Cost micros={costOf(tree, nodes)} />
            <Commit leaf={leaf} snapshots={snapshots} />
            <ol className={styles.nodes}>
              {nodes.slice(0, MOST).map((number) => {
                const node = tree.nodes.get(number);
                return (
                  <li key={number} data-own={number}>
                    <span className={styles.kind}>{KINDS[node?.kind ?? ""]?.word}</span>
                    <bdi>{node && summaryOf(node, 240)}</bdi>
                  </li>
                );
              })}
            </ol>
          </section>
        ))}
      </div>
      {left !== right && <EndFiles agent={agent} left={left} right={right} />}
    </div>
  );
}

/** What one end cost that the other did not; nothing where that is not known. */
function Cost({ micros }: { micros: number | undefined }) {
  if (micros === undefined) return null;
  return (
    <p className={styles.sum}>
      That cost <Money micros={micros} />
    </p>
  );
}

function Commit({ leaf, snapshots }: { leaf: number; snapshots: readonly AgentSnapshot[] }) {
  const kept = snapshots.find(({ node, commit }) => node === leaf && commit);
  if (!kept?.commit) return null;
  return (
    <p className={styles.sum}>
      Its snapshot is at commit <ShortId id={kept.commit} />
    </p>
  );
}

function nameOf(tree: TalkTree, leaf: number): string {
  const names = tree.marks.get(leaf)?.branches ?? [];
  return names.length > 0 ? `${names.join(", ")} (#${leaf})` : `#${leaf}`;
}
