import { useQuery } from "@tanstack/react-query";
import type { Pool, QueueDepth } from "../../api/types";
import { setParams, useParam } from "../../router/router";
import { count, shellWord } from "../../ui/format";
import { Menu, type MenuItem } from "../../ui/Menu";
import { Badge, PartialBadge } from "../../ui/Status";
import { PoolDrawer } from "./create/PoolDrawer";
import styles from "./Depth.module.css";
import { queueQueries, usePausePool } from "./queries";
import { lookOf } from "./states";

const STATES = ["ready", "running", "delayed", "blocked", "dead"] as const;

interface DepthQuery {
  data: QueueDepth | undefined;
  error: Error | null;
}

/** How deep the queue is, by state; a state shows its tasks. */
export function Depth({ query }: { query: DepthQuery }) {
  return (
    <div className={styles.depth}>
      {!query.data && query.error && (
        <PartialBadge
          kind="limited"
          why={`How deep the queue is could not be loaded: ${query.error.message}`}
        />
      )}
      {query.data &&
        STATES.map((state) => (
          <button
            key={state}
            type="button"
            data-depth={state}
            onClick={() => setParams({ tab: state === "dead" ? "dead" : undefined, state })}
          >
            <Badge tone={query.data?.[state] ? lookOf(state).tone : "plain"}>
              {count(query.data?.[state] ?? 0)} {state}
            </Badge>
          </button>
        ))}
      <Pools />
    </div>
  );
}

/** Pools can stand still one by one, and each works in its own way. */
function Pools() {
  const { data } = useQuery(queueQueries.pools);
  const pause = usePausePool();
  const [opened, setOpened] = useParam("setPool");
  const pools = data?.items ?? [];
  if (pools.length === 0) return null;
  const paused = pools.filter((pool) => pool.paused).length;
  const set = pools.find(({ name }) => name === opened);
  const linesOf = (pool: Pool): MenuItem[] => [
    {
      id: `pause ${pool.name}`,
      title: `${pool.paused ? "Resume" : "Pause"} ${pool.name}`,
      icon: pool.paused ? "play" : "pause",
      can: "task:update:team",
      cli: `godel queue ${pool.paused ? "resume" : "pause"} ${shellWord(pool.name)}`,
      run: () => pause.mutate(pool),
    },
    {
      id: `set ${pool.name}`,
      title: `Set how ${pool.name} works`,
      icon: "settings",
      can: "task:update:team",
      cli: `godel queue set ${shellWord(pool.name)}`,
      run: () => setOpened(pool.name),
    },
  ];
  return (
    <>
      <Menu
        label="Pools"
        look="line"
        size="small"
        align="left"
        button={paused > 0 ? `Pools, ${paused} paused` : "Pools"}
        items={pools.flatMap(linesOf)}
      />
      {set && <PoolDrawer key={set.name} pool={set} onClose={() => setOpened(undefined)} />}
    </>
  );
}
