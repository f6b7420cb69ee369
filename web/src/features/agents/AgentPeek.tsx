import { useAction } from "../../actions/actions";
import { BACK } from "../../actions/common";
import type { Agent } from "../../api/types";
import { Link } from "../../router/Link";
import { SidePanel } from "../../ui/Drawer";
import { Facts } from "../../ui/Facts";
import { NoticeCard } from "../inbox/NoticeCard";
import { useNoticesOf } from "../inbox/queries";
import styles from "./AgentPeek.module.css";
import { AgentStatus, AgentWalls } from "./AgentStatus";
import { AgentStory } from "./AgentStory";
import { AgentVerbs } from "./AgentVerbs";
import { AgentToday, SpendWithToday } from "./context/AgentToday";
import { LettersButton } from "./mail/LetterHost";
import { useAgentActs } from "./useAgentActs";

/** One agent beside the list: what it does, what happened to it, what can be done. */
export function AgentPeek({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  useAction(BACK, onClose, { title: "Close the panel" });
  const { act } = useAgentActs();
  const notices = useNoticesOf(agent.id);
  return (
    <SidePanel label={`Agent ${agent.label}`} head={agent.label} onClose={onClose}>
      <div className={styles.stack}>
        <div className={styles.line}>
          <AgentStatus agent={agent} />
          <AgentWalls agent={agent} />
        </div>
        <p>{agent.task}</p>
        {agent.note && <p className={styles.soft}>{agent.note}</p>}
        {agent.lastError && <p className={styles.bad}>{agent.lastError}</p>}
        {notices.map((notice) => (
          <NoticeCard key={notice.id} notice={notice} isOwn />
        ))}
        <Link to={`/agents/${encodeURIComponent(agent.id)}`}>
          Open timeline, terminal and changes
        </Link>
        <div className={styles.line}>
          <AgentVerbs agents={[agent]} act={act} />
          <LettersButton agent={agent} />
        </div>
        <Facts
          facts={[
            ["Bead", { id: agent.bead }],
            ["Role", agent.role],
            ["Agent", agent.harness],
            ["Model", agent.model],
            ["Started", { at: agent.spawnedAt }],
          ]}
        />
        <SpendWithToday agent={agent} />
        <AgentToday agent={agent} />
        <AgentStory agent={agent} />
      </div>
    </SidePanel>
  );
}
