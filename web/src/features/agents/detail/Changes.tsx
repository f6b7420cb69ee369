import { useQuery } from "@tanstack/react-query";
import { ApiError } from "../../../api/client";
import type { Agent, ReviewDiff, ReviewFile, ReviewLine } from "../../../api/types";
import { PAGES } from "../../../pages";
import { Link } from "../../../router/Link";
import { Disclosure } from "../../../ui/Disclosure";
import { Empty } from "../../../ui/Empty";
import { plural } from "../../../ui/format";
import { Loaded } from "../../../ui/Loaded";
import { SkeletonRows } from "../../../ui/Skeleton";
import { Badge, PartialBadge } from "../../../ui/Status";
import { agentQueries } from "../queries";
import styles from "./Changes.module.css";

/** What the branch of the agent's bead changes, to read; decisions are made in the review. */
export function Changes({ agent }: { agent: Agent }) {
  const query = useQuery(agentQueries.changes(agent));
  const { error } = query;
  if (
    query.data === undefined &&
    error instanceof ApiError &&
    error.status < 500 &&
    error.status >= 400
  ) {
    return (
      <NoChanges
        agent={agent}
        why={`${error.message[0]?.toUpperCase()}${error.message.slice(1)}.`}
      />
    );
  }
  return (
    <Loaded query={query} what="The changes" skeleton={<SkeletonRows />}>
      {(diff) =>
        diff.files.length === 0 ? (
          <NoChanges agent={agent} why="It has committed nothing yet." />
        ) : (
          <Files agent={agent} diff={diff} />
        )
      }
    </Loaded>
  );
}

function Files({ agent, diff }: { agent: Agent; diff: ReviewDiff }) {
  const added = diff.files.reduce((sum, file) => sum + file.added, 0);
  const removed = diff.files.reduce((sum, file) => sum + file.removed, 0);
  return (
    <div className={styles.box}>
      <p className={styles.sum}>
        <span>
          {plural(diff.total, "file")}, <ins>+{added}</ins> <del>−{removed}</del>
        </span>
        {(diff.cut || diff.files.length < diff.total) && (
          <PartialBadge kind="limited" why="The change is larger than what is shown" />
        )}
        {PAGES.some((page) => page.id === "review") && (
          <Link to={`/review/${encodeURIComponent(agent.bead)}`}>Review it</Link>
        )}
      </p>
      {diff.files.map((file) => (
        <FileChange key={file.path} file={file} />
      ))}
    </div>
  );
}

/** A file as far as it is shown; not every change is one that is reviewed. */
export interface ShownFile
  extends Pick<
    ReviewFile,
    "path" | "status" | "generated" | "binary" | "cut" | "added" | "removed"
  > {
  hunks: readonly {
    key: string;
    newStart: number;
    lines: readonly Pick<ReviewLine, "kind" | "text" | "old" | "new">[];
  }[];
}

/** What became of one file, line by line, to read. */
export function FileChange({ file }: { file: ShownFile }) {
  const body = <Hunks file={file} />;
  return (
    <section className={styles.file} aria-label={file.path}>
      <h2 className={styles.name}>
        <code>{file.path}</code>
        {file.status !== "modified" && <Badge>{file.status.replace("_", " ")}</Badge>}
        <span className={styles.counts}>
          <ins>+{file.added}</ins> <del>−{file.removed}</del>
        </span>
      </h2>
      {file.generated ? <Disclosure label="Written by a program">{body}</Disclosure> : body}
    </section>
  );
}

function Hunks({ file }: { file: ShownFile }) {
  if (file.binary) return <p className={styles.note}>It has no lines.</p>;
  if (file.cut) return <p className={styles.note}>Too many lines to show here.</p>;
  return (
    <div className={styles.hunks}>
      {file.hunks.map((hunk) => (
        <table key={hunk.key} className={styles.hunk} aria-label={`Lines ${hunk.newStart} on`}>
          <tbody>
            {hunk.lines.map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
              <tr key={index} className={styles[line.kind]}>
                <td className={styles.place}>{line.old}</td>
                <td className={styles.place}>{line.new}</td>
                <td className={styles.sign}>{SIGNS[line.kind]}</td>
                <td className={styles.code}>{line.text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
    </div>
  );
}

const SIGNS: Record<string, string> = { added: "+", removed: "−" };

function NoChanges({ agent, why }: { agent: Agent; why: string }) {
  return <Empty icon="branch" why={why} cli={`godel review diff ${agent.bead}`} />;
}
