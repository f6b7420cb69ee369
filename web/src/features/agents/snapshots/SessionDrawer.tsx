import { queryOptions, useQuery } from "@tanstack/react-query";
import { list } from "../../../api/list";
import { onLive } from "../../../realtime/rules";
import { Link } from "../../../router/Link";
import { Cli } from "../../../ui/Cli";
import { Drawer } from "../../../ui/Drawer";
import { Empty } from "../../../ui/Empty";
import { plural } from "../../../ui/format";
import { Loaded } from "../../../ui/Loaded";
import { SkeletonRows } from "../../../ui/Skeleton";
import { Badge, PartialBadge } from "../../../ui/Status";
import { Time } from "../../../ui/Time";
import styles from "./Snapshots.module.css";

/** More than this nobody looks through. */
const MOST = 200;
const SESSIONS = ["session-list"] as const;

const sessionsQuery = queryOptions({
  queryKey: SESSIONS,
  queryFn: () => list("/api/v1/sessions", { most: MOST }),
});

onLive({
  on: ["agent:session", "agent:spawn", "agent:complete", "agent:delete"],
  everyMs: 3_000,
  invalidate: () => [SESSIONS],
});

/** Every conversation, the newest first; a click opens its tree. */
export function SessionDrawer({ onClose }: { onClose: () => void }) {
  const query = useQuery(sessionsQuery);
  return (
    <Drawer title="Sessions" onClose={onClose}>
      <Loaded query={query} what="The sessions" skeleton={<SkeletonRows rows={6} height={52} />}>
        {({ items, isCut }) =>
          items.length === 0 ? (
            <Empty
              icon="message"
              why="There is no conversation yet. Each agent has one."
              cli={'godel agent spawn "Fix the login form"'}
            />
          ) : (
            <div className={styles.stack}>
              {isCut && <PartialBadge kind="limited" why={`Only the newest ${MOST}`} />}
              <ul className={styles.list} aria-label="Sessions">
                {items.map((talk) => (
                  <li key={talk.id} data-session={talk.id}>
                    <Link
                      to={`/agents/${encodeURIComponent(talk.agent)}?tab=session`}
                      className={styles.row}
                    >
                      <span className={styles.words}>
                        <strong>{talk.agent}</strong>
                        <Badge>{talk.status}</Badge>
                        <Time at={talk.createdAt} />
                      </span>
                      <span className={styles.soft}>
                        {talk.bead}, {plural(talk.nodes, "node")}, on {talk.branch}
                      </span>
                    </Link>
                  </li>
                ))}
              </ul>
              <Cli command="godel session list" />
            </div>
          )
        }
      </Loaded>
    </Drawer>
  );
}
