import { useQuery } from "@tanstack/react-query";
import type { Agent } from "../../../api/types";
import { ToastsHere } from "../../../change/Toaster";
import { Guarded } from "../../../roles/Guarded";
import { Cli } from "../../../ui/Cli";
import { Drawer } from "../../../ui/Drawer";
import { Empty } from "../../../ui/Empty";
import { Loaded } from "../../../ui/Loaded";
import { SkeletonRows } from "../../../ui/Skeleton";
import { PartialBadge } from "../../../ui/Status";
import { sessionQueries } from "../session/queries";
import { SnapshotLine } from "./SnapshotLine";
import styles from "./Snapshots.module.css";

interface SnapshotDrawerProps {
  /** Whose they are; all without it, also those that came from elsewhere. */
  agent?: Agent;
  onImport?: () => void;
  onClose: () => void;
}

/** What was kept of one agent or of all, to go on from. */
export function SnapshotDrawer({ agent, onImport, onClose }: SnapshotDrawerProps) {
  const query = useQuery(sessionQueries.snapshots);
  const items = (query.data?.items ?? []).filter(
    ({ agentId }) => agent === undefined || agentId === agent.id,
  );
  return (
    <Drawer
      title={agent ? `Snapshots of ${agent.label}` : "Snapshots"}
      onClose={onClose}
      foot={
        onImport && (
          <Guarded
            side="above"
            align="end"
            can="agent:create:own"
            cli="godel agent import FILE"
            onClick={onImport}
          >
            Import a snapshot
          </Guarded>
        )
      }
    >
      <Loaded query={query} what="The snapshots" skeleton={<SkeletonRows rows={4} height={44} />}>
        {({ isCut }) =>
          items.length === 0 ? (
            <Empty
              icon="camera"
              why={`Nothing was kept yet. A snapshot has the files and the conversation of ${agent?.label ?? "an agent"} at work.`}
              cli={`godel agent snapshot ${agent?.label ?? "worker-1"}`}
            />
          ) : (
            <div className={styles.stack}>
              {isCut && <PartialBadge kind="limited" why="Only the newest" />}
              <ul className={styles.list} aria-label="Snapshots">
                {items.map((snapshot) => (
                  <SnapshotLine key={snapshot.id} snapshot={snapshot} hasAgent={!agent} />
                ))}
              </ul>
              <Cli command="godel agent snapshots" />
            </div>
          )
        }
      </Loaded>
      <ToastsHere />
    </Drawer>
  );
}
