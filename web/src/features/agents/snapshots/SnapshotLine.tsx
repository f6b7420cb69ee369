import type { AgentSnapshot } from "../../../api/types";
import { confirm } from "../../../change/confirm";
import { Guarded } from "../../../roles/Guarded";
import { Menu } from "../../../ui/Menu";
import { ShortId } from "../../../ui/ShortId";
import { Badge } from "../../../ui/Status";
import { Time } from "../../../ui/Time";
import { fileName, saveSnapshot, useForgetSnapshot, useRestoreSnapshot } from "./queries";
import styles from "./Snapshots.module.css";
import { useForeignSnapshot } from "./useForeignSnapshot";

/** One snapshot: when it was taken, and what can be done with it. */
export function SnapshotLine({
  snapshot,
  hasAgent = false,
}: {
  snapshot: AgentSnapshot;
  /** Whether it says whose it is. */
  hasAgent?: boolean;
}) {
  const restore = useRestoreSnapshot();
  return (
    <li className={styles.line} data-snapshot={snapshot.id}>
      <span className={styles.words}>
        {hasAgent && <strong>{snapshot.agent}</strong>}
        <Time at={snapshot.takenAt} />
        <ShortId id={snapshot.id} />
        {snapshot.commit && (
          <span className={styles.soft}>
            at <ShortId id={snapshot.commit} />
          </span>
        )}
        {hasAgent && typeof snapshot.node === "number" && (
          <span className={styles.soft}>node {snapshot.node}</span>
        )}
        {snapshot.imported && <Badge>imported</Badge>}
      </span>
      <Guarded
        size="small"
        can="agent:create:own"
        cli={`godel agent restore ${snapshot.id}`}
        refused={restore.isPending ? "It is being restored." : undefined}
        onClick={() => restore.mutate(snapshot)}
      >
        Restore
      </Guarded>
      <SnapshotMenu snapshot={snapshot} />
    </li>
  );
}

function SnapshotMenu({ snapshot }: { snapshot: AgentSnapshot }) {
  const forget = useForgetSnapshot();
  const refused = useForeignSnapshot()(snapshot);
  const askAndForget = async () => {
    const isSure = await confirm({
      title: "Forget this snapshot?",
      body: "Its files and its conversation are gone. Agents that went on from it stay.",
      act: "Forget it",
      cli: `godel agent forget ${snapshot.id}`,
    });
    if (isSure) forget.mutate(snapshot);
  };
  return (
    <Menu
      label={`Do something with the snapshot of ${snapshot.agent}`}
      size="small"
      items={[
        {
          id: "export",
          title: "Export",
          icon: "archive",
          can: "agent:execute:own",
          refused,
          cli: `godel agent export ${snapshot.id} ${fileName(snapshot)}`,
          run: () => saveSnapshot(snapshot),
        },
        {
          id: "forget",
          title: "Forget",
          icon: "trash",
          can: "agent:execute:own",
          destructive: true,
          refused,
          cli: `godel agent forget ${snapshot.id}`,
          run: askAndForget,
        },
      ]}
    />
  );
}
