import { queryOptions, useQuery } from "@tanstack/react-query";
import { get } from "../../../api/client";
import type { Worktree } from "../../../api/types";
import { onLive } from "../../../realtime/rules";
import { Link } from "../../../router/Link";
import { Cli } from "../../../ui/Cli";
import { CopyButton } from "../../../ui/CopyButton";
import { Drawer } from "../../../ui/Drawer";
import { Empty } from "../../../ui/Empty";
import { plural, words } from "../../../ui/format";
import { Loaded } from "../../../ui/Loaded";
import { ShortId } from "../../../ui/ShortId";
import { SkeletonRows } from "../../../ui/Skeleton";
import { Badge } from "../../../ui/Status";
import { useProject } from "../../projects/queries";
import styles from "../snapshots/Snapshots.module.css";

const WORKTREES = ["worktrees"] as const;

const worktreesQuery = queryOptions({
  queryKey: WORKTREES,
  queryFn: () => get("/api/v1/worktrees"),
  // People work in them, too, and no event tells of that.
  staleTime: 0,
});

// Each answer is read from git, for all of them; that is not asked for at every line of an agent.
onLive({
  on: ["agent:spawn", "agent:commit", "agent:complete", "agent:delete"],
  everyMs: 5_000,
  invalidate: () => [WORKTREES],
});

/** Where work is done: each worktree of the projects, with what is in it that its base does not have. */
export function WorktreeDrawer({ onClose }: { onClose: () => void }) {
  const query = useQuery(worktreesQuery);
  const { projects, projectId } = useProject();
  const nameOf = (id: string) => projects.find((project) => project.id === id)?.name ?? id;
  return (
    <Drawer title="Worktrees" onClose={onClose}>
      <Loaded query={query} what="The worktrees" skeleton={<SkeletonRows rows={4} height={72} />}>
        {({ items }) => {
          const shown = items.filter((one) => !projectId || one.projectId === projectId);
          if (shown.length === 0) {
            return (
              <Empty
                icon="branch"
                why="There is no worktree. Each agent gets one for its bead."
                cli="godel worktree list"
              />
            );
          }
          return (
            <div className={styles.stack}>
              <ul className={styles.list} aria-label="Worktrees">
                {shown.map((one) => (
                  <WorktreeLine
                    key={`${one.projectId} ${one.id}`}
                    worktree={one}
                    project={nameOf(one.projectId)}
                  />
                ))}
              </ul>
              <Cli command="godel worktree list" />
            </div>
          );
        }}
      </Loaded>
    </Drawer>
  );
}

function WorktreeLine({ worktree, project }: { worktree: Worktree; project: string }) {
  const { id, branch, head, path, state } = worktree;
  return (
    <li className={styles.row} data-worktree={id}>
      <span className={styles.words}>
        <Link to={`/beads/${encodeURIComponent(id)}`}>{id}</Link>
        <Badge tone={state === "ready" ? "ok" : "warn"}>{words(state)}</Badge>
        <span className={styles.soft}>{project}</span>
        <CopyButton text={path} label="Copy the path" />
      </span>
      <span className={styles.words}>
        {branch && <code>{branch}</code>}
        {head && <ShortId id={head} />}
        <span className={styles.soft}>{workIn(worktree)}</span>
      </span>
      <code className={styles.path}>{path}</code>
    </li>
  );
}

/** What is in a worktree that its base does not have. */
export function workIn({ ahead, dirty }: Pick<Worktree, "ahead" | "dirty">): string {
  const parts = [
    typeof ahead === "number" && ahead > 0 && `${plural(ahead, "commit")} ahead`,
    typeof dirty === "number" && dirty > 0 && `${plural(dirty, "file")} not committed`,
  ].filter(Boolean);
  if (parts.length > 0) return parts.join(", ");
  return ahead === undefined || ahead === null ? "not known what is in it" : "nothing new in it";
}
