import type { Agent } from "../../api/types";
import { PAGES } from "../../pages";
import { Link } from "../../router/Link";
import { fullTime, money, shortId } from "../../ui/format";
import { ShortId } from "../../ui/ShortId";
import { useNow } from "../../ui/useNow";
import styles from "./AgentParts.module.css";
import { ContextGauge } from "./context/ContextGauge";
import { useCostToday, useLastContext } from "./context/queries";
import { useDoing } from "./doing";
import { isAlive, upTime } from "./views";

const UP_EVERY_MS = 10_000;

/** What it does right now; else why it stands still. */
export function useLastAction(agent: Agent): string | undefined {
  return useDoing(agent) ?? agent.note ?? undefined;
}

/** The way to its bead. */
export function BeadLink({ bead }: { bead: string }) {
  if (!PAGES.some((page) => page.id === "beads")) return <ShortId id={bead} />;
  return (
    <Link to={`/beads/${encodeURIComponent(bead)}`} className={styles.bead}>
      {shortId(bead)}
    </Link>
  );
}

/** How long it has been there. */
export function UpTime({ agent }: { agent: Agent }) {
  const now = useNow(UP_EVERY_MS, isAlive(agent));
  return <span title={`Started ${fullTime(agent.spawnedAt)}`}>{upTime(agent, now)}</span>;
}

/** In a line of a table: what it does, or what it is there for. */
export function DoingCell({ agent }: { agent: Agent }) {
  const text = useLastAction(agent) ?? agent.task;
  return (
    <span title={agent.task} data-doing>
      {text}
    </span>
  );
}

/** How full its model is. */
export function ContextCell({ agent }: { agent: Agent }) {
  const context = useLastContext(agent);
  return context !== undefined && <ContextGauge agent={agent} context={context} isShort />;
}

/** What it cost since midnight in UTC. */
export function TodayCell({ agent }: { agent: Agent }) {
  const today = useCostToday(agent);
  if (today === undefined) return null;
  return (
    <span data-today={today} title="Since midnight in UTC">
      {money(today)}
    </span>
  );
}
