import { useQuery } from "@tanstack/react-query";
import type { Agent, TalkCompared, TalkEnd } from "../../../api/types";
import { useParam } from "../../../router/router";
import { Button } from "../../../ui/Button";
import { Cli } from "../../../ui/Cli";
import { Empty } from "../../../ui/Empty";
import { Loaded } from "../../../ui/Loaded";
import { ShortId } from "../../../ui/ShortId";
import { SkeletonRows } from "../../../ui/Skeleton";
import { PatchLines } from "../detail/PatchLines";
import styles from "./Compare.module.css";
import { sessionQueries } from "./queries";

interface EndFilesProps {
  agent: Agent;
  left: number;
  right: number;
}

/** What the files of two ends differ in. */
export function EndFiles({ agent, left, right }: EndFilesProps) {
  const query = useQuery(sessionQueries.ends(agent, left, right));
  return (
    <section aria-label="Their files" className={styles.files}>
      <h2 className={styles.title}>What their files differ in</h2>
      <Loaded query={query} what="The files of both ends" skeleton={<SkeletonRows rows={4} />}>
        {(found) => <Found agent={agent} found={found} />}
      </Loaded>
      <Cli command={`godel session compare ${agent.label} ${left} ${right}`} />
    </section>
  );
}

function Found({ agent, found }: { agent: Agent; found: TalkCompared }) {
  const [, setKept] = useParam("snapshots");
  const ends = [
    ["First end", found.left],
    ["Second end", found.right],
  ] as const;
  const bare = ends.filter(([, end]) => !hasFiles(end));
  return (
    <>
      <ul className={styles.sum}>
        {ends.map(([title, end]) => (
          <li key={title}>
            {title}: {filesOfEnd(end)}
            {end.commit && (
              <>
                , at commit <ShortId id={end.commit} />
              </>
            )}
          </li>
        ))}
      </ul>
      {bare.length > 0 ? (
        <Empty
          icon="branch"
          why={
            bare.length > 1
              ? "No files were kept at these ends. Take a snapshot there to compare files."
              : "No files were kept at this end. Take a snapshot there to compare files."
          }
          action={<Button onClick={() => setKept("1")}>Open the snapshots</Button>}
          cli={`godel agent snapshot ${agent.label}`}
        />
      ) : (
        <PatchLines diff={found} same="Their files are the same." />
      )}
    </>
  );
}

const hasFiles = ({ filesOf }: TalkEnd) => filesOf !== null && filesOf !== undefined;

/** Whose files stand for an end. */
function filesOfEnd(end: TalkEnd): string {
  if (!hasFiles(end)) return "no files were kept";
  if (end.live) return "its worktree as it is now";
  return end.filesOf === end.node ? "its snapshot" : `the snapshot before it, at #${end.filesOf}`;
}
