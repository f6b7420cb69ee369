import type { Agent } from "../../../api/types";
import { PAGES } from "../../../pages";
import { Link } from "../../../router/Link";
import { Facts } from "../../../ui/Facts";
import { useNow } from "../../../ui/useNow";
import { PreviewPanel } from "../../previews/PreviewPanel";
import { ofAgent } from "../../previews/target";
import { AgentStory } from "../AgentStory";
import { AgentToday, SpendWithToday } from "../context/AgentToday";
import { LettersButton } from "../mail/LetterHost";
import { useForeignAgent } from "../useForeignAgent";
import { isAlive, upTime } from "../views";
import styles from "./AboutAgent.module.css";

/** How often its age is told anew. */
const UP_EVERY_MS = 10_000;

/** What stays the same, or changes slowly: task, place, budget, list of things to do. */
export function AboutAgent({ agent }: { agent: Agent }) {
  const now = useNow(UP_EVERY_MS, isAlive(agent));
  const foreign = useForeignAgent()(agent);
  return (
    <aside className={styles.side} aria-label={`Agent ${agent.label}`}>
      <p className={styles.task}>{agent.task}</p>
      {agent.note && <p className={styles.soft}>{agent.note}</p>}
      {agent.lastError && agent.lastError !== agent.note && (
        <p className={styles.bad}>{agent.lastError}</p>
      )}
      <SpendWithToday agent={agent} />
      <AgentToday agent={agent} />
      <PreviewPanel target={ofAgent(agent)} foreign={foreign} />
      <Facts
        facts={[
          ["Bead", { id: agent.bead }],
          ["Role", agent.role],
          ["Agent", agent.harness],
          ["Model", agent.model],
          ["Runtime", `${agent.runtime}, ${agent.sandbox}`],
          ["Started", { at: agent.spawnedAt }],
          ["Up", upTime(agent, now)],
          ["Runs", String(agent.runs)],
        ]}
      />
      <BeadLinks agent={agent} />
      <div>
        <LettersButton agent={agent} />
      </div>
      <AgentStory agent={agent} />
    </aside>
  );
}

function BeadLinks({ agent }: { agent: Agent }) {
  const has = (id: string) => PAGES.some((page) => page.id === id);
  const bead = encodeURIComponent(agent.bead);
  if (!has("beads") && !has("review")) return null;
  return (
    <p className={styles.links}>
      {has("beads") && <Link to={`/beads/${bead}`}>Open the bead</Link>}
      {has("review") && <Link to={`/review/${bead}`}>Open the review</Link>}
    </p>
  );
}
