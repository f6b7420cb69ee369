import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { RemovedWorktree, Worktree, WorktreeFate } from "../../../api/types";
import { confirm } from "../../../change/confirm";
import { Guarded } from "../../../roles/Guarded";
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
import {
  askWhichAreDue,
  MAY_REMOVE,
  useCleanWorktrees,
  useRemoveWorktree,
  worktreesQuery,
} from "./queries";

/** Where work is done: each worktree of the projects, with what is in it that its base does not have. */
export function WorktreeDrawer({ onClose }: { onClose: () => void }) {
  const query = useQuery(worktreesQuery);
  const { projects, projectId } = useProject();
  const nameOf = (id: string) => projects.find((project) => project.id === id)?.name ?? id;
  const [gone, setGone] = useState<readonly RemovedWorktree[]>([]);
  const onGone = (more: readonly RemovedWorktree[]) => setGone((known) => [...known, ...more]);
  return (
    <Drawer title="Worktrees" onClose={onClose}>
      <div className={styles.stack}>
        <Saved gone={gone} />
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
                      onGone={onGone}
                    />
                  ))}
                </ul>
                <CleanUp projectId={projectId} onGone={onGone} />
                <Cli command="godel worktree list" />
              </div>
            );
          }}
        </Loaded>
      </div>
    </Drawer>
  );
}

interface WorktreeLineProps {
  worktree: Worktree;
  project: string;
  onGone: (gone: readonly RemovedWorktree[]) => void;
}

function WorktreeLine({ worktree, project, onGone }: WorktreeLineProps) {
  const { id, branch, head, path, state } = worktree;
  const remove = useRemoveWorktree(onGone);
  const cli = `godel worktree remove ${id}`;
  const askAndRemove = async () => {
    const isSure = await confirm({
      title: `Remove the worktree ${id}?`,
      body: `In it: ${workIn(worktree)}. What nobody else has is saved first, and you are told how to get it back. Files that git ignores are gone.`,
      act: "Remove it",
      cli,
    });
    if (isSure) remove.mutate(worktree);
  };
  return (
    <li className={styles.row} data-worktree={id}>
      <span className={styles.words}>
        <Link to={`/beads/${encodeURIComponent(id)}`}>{id}</Link>
        <Badge tone={state === "ready" ? "ok" : "warn"}>{words(state)}</Badge>
        <span className={styles.soft}>{project}</span>
        <CopyButton text={path} label="Copy the path" />
        <Guarded size="small" can={MAY_REMOVE} destructive cli={cli} onClick={askAndRemove}>
          Remove
        </Guarded>
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

/** Removes those whose time has come, after it was told which these are. */
function CleanUp({
  projectId,
  onGone,
}: {
  projectId: string | undefined;
  onGone: WorktreeLineProps["onGone"];
}) {
  const clean = useCleanWorktrees();
  const [said, setSaid] = useState<string>();
  const cli = "godel worktree cleanup";
  const askAndClean = async () => {
    const { due, kept } = await askWhichAreDue(projectId);
    if (due.length === 0) return setSaid(`None has had its time. ${tellFates(kept)}`);
    setSaid(undefined);
    const isSure = await confirm({
      title: `Remove ${plural(due.length, "worktree")}?`,
      body: `${tellFates(due)} What nobody else has is saved first.`,
      act: "Clean up",
      cli,
    });
    if (!isSure) return;
    clean.mutate(
      { projectId },
      {
        onSuccess: ({ removed, refused }) => {
          onGone(removed);
          if (refused.length > 0) setSaid(`Some could not be removed. ${tellFates(refused)}`);
        },
      },
    );
  };
  return (
    <div className={styles.words}>
      <Guarded
        can={MAY_REMOVE}
        cli={cli}
        refused={clean.isPending ? "They are being removed." : undefined}
        onClick={() => askAndClean().catch((error: Error) => setSaid(error.message))}
      >
        Clean up
      </Guarded>
      <span className={styles.soft} role="status">
        {said ?? "Removes those whose work has ended, as their policy says."}
      </span>
    </div>
  );
}

/** How what was in worktrees that are gone comes back. */
function Saved({ gone }: { gone: readonly RemovedWorktree[] }) {
  const saved = gone.filter(({ restore }) => restore.length > 0);
  if (saved.length === 0) return null;
  return (
    <ul className={styles.list} aria-label="Saved work">
      {saved.map(({ id, restore }) => (
        <li key={restore.join()} className={styles.row} data-saved-work={id}>
          <span>The work in {id} was saved. Get it back with:</span>
          {restore.map((command) => (
            <Cli key={command} command={command} />
          ))}
        </li>
      ))}
    </ul>
  );
}

/** Some of them, each with its reason. */
export function tellFates(fates: readonly Pick<WorktreeFate, "id" | "why">[]): string {
  const shown = fates.slice(0, 5).map(({ id, why }) => `${id}: ${why}`);
  const more = fates.length - shown.length;
  if (more > 0) shown.push(`and ${more} more`);
  return shown.length > 0 ? `${shown.join("; ")}.` : "";
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
