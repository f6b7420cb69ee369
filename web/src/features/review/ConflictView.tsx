import { useQuery } from "@tanstack/react-query";
import type { ReviewConflict, ReviewConflictSpot } from "../../api/types";
import { Cli } from "../../ui/Cli";
import { plural } from "../../ui/format";
import { Loaded } from "../../ui/Loaded";
import { Notice } from "../../ui/Notice";
import { asSentence } from "../../ui/Sentence";
import { SkeletonRows } from "../../ui/Skeleton";
import { PartialBadge } from "../../ui/Status";
import styles from "./ConflictView.module.css";
import { cliFor } from "./deskContext";
import { reviewQueries } from "./queries";

interface ConflictViewProps {
  bead: string;
  commit: string | undefined;
  /** The branch that the work is for. */
  target: string;
}

/** The files in which the work conflicts with its branch, with both sides beside each other. */
export function ConflictView({ bead, commit, target }: ConflictViewProps) {
  const query = useQuery(reviewQueries.conflicts(bead, commit));
  return (
    <section aria-label="Conflicts" className={styles.all}>
      <Loaded query={query} what="The conflicts" skeleton={<SkeletonRows rows={3} />}>
        {({ files, cut }) =>
          files.length === 0 ? (
            <p>
              The work can be merged into {target}: no line was changed on both sides otherwise.
            </p>
          ) : (
            <>
              <Notice tone="bad">
                <p>
                  {plural(files.length, "file")} in conflict with {target}. The merge queue lets an
                  agent repair that; you can also request changes.
                </p>
              </Notice>
              {cut && <PartialBadge kind="limited" why={`Only the first ${files.length} files`} />}
              <section
                className={styles.files}
                // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must scroll by keyboard, too
                tabIndex={0}
                aria-label="Files in conflict"
              >
                {files.map((file) => (
                  <ConflictFile key={file.path} file={file} target={target} />
                ))}
              </section>
            </>
          )
        }
      </Loaded>
      <Cli command={cliFor("conflicts", bead)} />
    </section>
  );
}

function ConflictFile({ file, target }: { file: ReviewConflict; target: string }) {
  return (
    <article className={styles.file} data-conflict={file.path}>
      <h3 className={styles.path}>
        <code>{file.path}</code>
      </h3>
      <p className={styles.why}>{asSentence(file.why)}</p>
      {file.spots.map((spot, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: places have no other name, and none moves
        <ConflictSpot key={index} spot={spot} target={target} />
      ))}
      {file.cut && <PartialBadge kind="limited" why="The file has more places in conflict" />}
    </article>
  );
}

function ConflictSpot({ spot, target }: { spot: ReviewConflictSpot; target: string }) {
  return (
    <div className={styles.spot}>
      <Lines lines={spot.above} />
      <div className={styles.sides}>
        <div data-side="target">
          <h4>On {target}</h4>
          <Lines lines={spot.target} none="It has none of these lines." />
        </div>
        <div data-side="work">
          <h4>In the work</h4>
          <Lines lines={spot.work} none="It has none of these lines." />
        </div>
      </div>
      <Lines lines={spot.below} />
      {spot.base.length > 0 && (
        <div data-side="base">
          <h4>Before, on both</h4>
          <Lines lines={spot.base} />
        </div>
      )}
      {spot.cut && <PartialBadge kind="limited" why="A side has more lines" />}
    </div>
  );
}

function Lines({ lines, none }: { lines: readonly string[]; none?: string }) {
  if (lines.length === 0) return none ? <p className={styles.why}>{none}</p> : null;
  return <pre className={styles.lines}>{lines.join("\n")}</pre>;
}
