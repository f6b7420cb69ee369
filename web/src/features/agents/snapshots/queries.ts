import { post, remove } from "../../../api/client";
import type { Listing } from "../../../api/list";
import type { Agent, AgentSnapshot } from "../../../api/types";
import { toast } from "../../../change/toasts";
import { useChange } from "../../../change/useChange";
import { onLive } from "../../../realtime/rules";
import { navigate } from "../../../router/router";
import { RESTORE_MS } from "../queries";
import { sessionQueries } from "../session/queries";

const SNAPSHOTS = sessionQueries.snapshots.queryKey;
const path = (id: string) => `/api/v1/snapshots/${encodeURIComponent(id)}` as const;

onLive({ on: ["agent:forget", "agent:import"], invalidate: () => [SNAPSHOTS] });

/** Lets another agent go on from a snapshot, with a bead and a worktree of its own. */
export function useRestoreSnapshot() {
  return useChange<AgentSnapshot, Agent>({
    what: (snapshot) => `Restore the snapshot of ${snapshot.agent}`,
    send: async (snapshot) => {
      const made = await post(`${path(snapshot.id)}/restore`, undefined, RESTORE_MS);
      const open = { label: "Open", run: () => navigate(`/agents/${made.label}`) };
      toast({ title: `${made.label} goes on from the snapshot`, action: open });
      return made;
    },
    settle: () => [["agents"]],
  });
}

/** Forgets a snapshot; agents that went on from it stay. */
export function useForgetSnapshot() {
  return useChange<AgentSnapshot, void>({
    what: (snapshot) => `Forget the snapshot of ${snapshot.agent}`,
    send: (snapshot) => remove(path(snapshot.id)),
    expect: (cache, snapshot) =>
      cache.update<Listing<AgentSnapshot>>(SNAPSHOTS, (all) => ({
        ...all,
        items: all.items.filter(({ id }) => id !== snapshot.id),
      })),
    settle: () => [SNAPSHOTS],
    done: (snapshot) => `The snapshot of ${snapshot.agent} is forgotten`,
  });
}

/** Lets the browser write a snapshot into a file as it comes: it may be larger than a page can hold. */
export function saveSnapshot(snapshot: AgentSnapshot): void {
  const link = document.createElement("a");
  link.href = `${path(snapshot.id)}/file`;
  link.download = fileName(snapshot);
  link.click();
}

/** What the file of a snapshot is called. */
export function fileName({ agent }: AgentSnapshot): string {
  return `${agent}.godel`;
}
