import { classes } from "../../../ui/classes";
import { plural } from "../../../ui/format";
import { Icon, type IconName } from "../../../ui/Icon";
import { Money } from "../../../ui/Money";
import { Badge } from "../../../ui/Status";
import { Time } from "../../../ui/Time";
import styles from "./SessionTree.module.css";
import { costOf, summaryOf, type TalkTree, type TreeLine, tally } from "./tree";

/** All lines have the same height, so that only those in sight are drawn. */
export const ROW_HEIGHT = 34;
const STEP = 16;
/** Lanes further right than this are drawn on top of each other. */
const MOST_LANES = 12;

/** How each kind of node looks; the word is told as well. */
export const KINDS: Record<string, { icon: IconName; word: string }> = {
  user: { icon: "person", word: "Told" },
  model: { icon: "message", word: "Said" },
  thinking: { icon: "dots", word: "Thought" },
  call: { icon: "terminal", word: "Called" },
  result: { icon: "chevron", word: "Returned" },
  summary: { icon: "archive", word: "Summed up" },
  kept: { icon: "lock", word: "Kept" },
};

interface TreeRowProps {
  line: TreeLine;
  tree: TalkTree;
  isChosen: boolean;
  isCursor: boolean;
  onPress: () => void;
}

/** One line of the tree: where it hangs, what was said, and what is fixed to it. */
export function TreeRow({ line, tree, isChosen, isCursor, onPress }: TreeRowProps) {
  const { number, folded } = line;
  const node = tree.nodes.get(number);
  const marks = folded.length > 0 ? undefined : tree.marks.get(number);
  const kind = KINDS[node?.kind ?? ""] ?? { icon: "circle", word: node?.kind ?? "" };
  return (
    <li className={styles.item}>
      <button
        type="button"
        className={classes(styles.row, isCursor && styles.cursor)}
        data-node={folded.length > 0 ? undefined : number}
        data-fold={folded.length > 0 ? number : undefined}
        data-lane={line.lane}
        aria-pressed={folded.length > 0 ? undefined : isChosen}
        aria-expanded={folded.length > 0 ? false : undefined}
        onClick={onPress}
      >
        <Gutter line={line} isLive={tree.live.has(number)} isRoot={tree.roots.includes(number)} />
        {line.lane > 0 && <span className="visually-hidden">Branch {line.lane}: </span>}
        {folded.length > 0 ? (
          <span className={styles.fold}>
            {plural(folded.length, "node")} in a row: {tally(tree, folded)}
            <Cost micros={costOf(tree, folded)} />
          </span>
        ) : (
          <>
            <span className={styles.kind}>
              <Icon name={kind.icon as IconName} size={13} />
              {kind.word}
            </span>
            <bdi className={styles.text}>{node && summaryOf(node)}</bdi>
            {marks && <Marked marks={marks} isHead={tree.head === number} />}
            <Cost micros={costOf(tree, [number])} />
            {node?.at && (
              <span className={styles.number}>
                <Time at={node.at} />
              </span>
            )}
            <span className={styles.number}>{`#${number}`}</span>
          </>
        )}
      </button>
    </li>
  );
}

/** What was paid for it; nothing where that is not known. */
function Cost({ micros }: { micros: number | undefined }) {
  if (micros === undefined) return null;
  return (
    <span className={styles.number} data-cost={micros}>
      <Money micros={micros} />
    </span>
  );
}

function Marked({
  marks,
  isHead,
}: {
  marks: { branches: string[]; saves: string[]; snapshots: string[] };
  isHead: boolean;
}) {
  return (
    <span className={styles.marks}>
      {isHead && (
        <Badge tone="ok" icon="play" title="The agent goes on from here">
          live
        </Badge>
      )}
      {marks.branches.map((name) => (
        <Badge key={name} tone="info" icon="branch" title="The end of a branch">
          {name}
        </Badge>
      ))}
      {marks.saves.map((name) => (
        <Badge key={name} icon="archive" title="A save point">
          {name}
        </Badge>
      ))}
      {marks.snapshots.length > 0 && (
        <Badge tone="warn" icon="camera" title="Files were kept when this was said">
          {plural(marks.snapshots.length, "snapshot")}
        </Badge>
      )}
    </span>
  );
}

/** The lines that join what hangs together. */
function Gutter({ line, isLive, isRoot }: { line: TreeLine; isLive: boolean; isRoot: boolean }) {
  const lane = Math.min(line.lane, MOST_LANES);
  const x = (at: number) => Math.min(at, MOST_LANES) * STEP + STEP / 2;
  const [here, middle] = [x(lane), ROW_HEIGHT / 2];
  const through = line.through.filter((at) => at < MOST_LANES);
  return (
    <svg
      className={styles.gutter}
      width={(lane + 1) * STEP + 4}
      height={ROW_HEIGHT}
      aria-hidden="true"
      data-live={isLive || undefined}
    >
      {through.map((at) => (
        <path key={at} className={styles.passing} d={`M${x(at)} 0V${ROW_HEIGHT}`} />
      ))}
      {line.isFork ? (
        <path
          className={styles.join}
          d={`M${x(lane - 1)} 0C${x(lane - 1)} ${middle} ${here} 0 ${here} ${middle}`}
        />
      ) : (
        !isRoot && <path className={styles.join} d={`M${here} 0V${middle}`} />
      )}
      {!line.isEnd && <path className={styles.join} d={`M${here} ${middle}V${ROW_HEIGHT}`} />}
      {line.folded.length > 0 ? (
        <path className={styles.join} strokeDasharray="2 3" d={`M${here - 4} ${middle}h8`} />
      ) : (
        <circle className={styles.dot} cx={here} cy={middle} r="3.5" />
      )}
    </svg>
  );
}
