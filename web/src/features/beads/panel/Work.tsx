import { useQuery } from "@tanstack/react-query";
import type { Agent, BeadDetail, ReviewRow } from "../../../api/types";
import { Guarded } from "../../../roles/Guarded";
import { Link } from "../../../router/Link";
import { navigate } from "../../../router/router";
import { plural } from "../../../ui/format";
import { Icon } from "../../../ui/Icon";
import { Loaded } from "../../../ui/Loaded";
import { Money } from "../../../ui/Money";
import { ShortId } from "../../../ui/ShortId";
import { SkeletonRows } from "../../../ui/Skeleton";
import { Badge } from "../../../ui/Status";
import { Time } from "../../../ui/Time";
import { AgentStatus } from "../../agents/AgentStatus";
import { isAlive } from "../../agents/views";
import { AttemptsSection } from "../attempts/AttemptsSection";
import { beadQueries } from "../queries";
import styles from "./BeadPanel.module.css";

/** What was made of it: commits, what waits for a review, who worked on it. */
export function Work({ bead }: { bead: BeadDetail }) {
  const review = useReviewOf(bead);
  const agents = useQuery(beadQueries.agents(bead.id));
  const sessions = useQuery(beadQueries.sessions(bead));
  return (
    <>
      {review && (
        <section className={styles.section} aria-label="Change">
          <h3>Change</h3>
          <p className={styles.row}>
            <Link to={`/review/${encodeURIComponent(bead.id)}`}>
              {plural(review.files, "file")}, +{review.added} −{review.removed}
            </Link>
            {review.risks.map((risk) => (
              <Badge key={risk} tone="warn" icon="alert">
                {risk}
              </Badge>
            ))}
          </p>
        </section>
      )}
      <Commits bead={bead} />
      <section className={styles.section} aria-label="Agents">
        <h3>Agents</h3>
        <Loaded query={agents} what="The agents" skeleton={<SkeletonRows rows={1} />}>
          {({ items }) =>
            items.length === 0 ? (
              <p className={styles.soft}>No agent has worked on it.</p>
            ) : (
              <ul className={styles.rows}>
                {items.map((agent) => (
                  <li key={agent.id} className={styles.row}>
                    <Link to={`/agents/${encodeURIComponent(agent.id)}`} className={styles.grow}>
                      {agent.label}
                    </Link>
                    <AgentStatus agent={agent} />
                    <Money micros={agent.spentMicros} />
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
        <SpawnOn bead={bead} agents={agents.data?.items ?? []} />
      </section>
      <AttemptsSection bead={bead} agents={agents.data?.items ?? []} />
      <section className={styles.section} aria-label="Sessions">
        <h3>Sessions</h3>
        <Loaded query={sessions} what="The sessions" skeleton={<SkeletonRows rows={1} />}>
          {({ items }) => <Sessions talks={items} />}
        </Loaded>
      </section>
    </>
  );
}

/** How large the change of a bead is; of many that wait the server lists only some, so it is asked for this one. */
function useReviewOf(bead: BeadDetail): ReviewRow | undefined {
  const { data: listed } = useQuery(beadQueries.reviews(bead.projectId));
  const row = listed?.rows[bead.id];
  const isMissing = listed?.isCut === true && row === undefined && bead.status === "review";
  const { data: own } = useQuery({ ...beadQueries.review(bead), enabled: isMissing });
  return row ?? (isMissing ? own : undefined);
}

function Commits({ bead }: { bead: BeadDetail }) {
  return (
    <section className={styles.section} aria-label="Commits">
      <h3>Commits</h3>
      {bead.checkedCommits.length === 0 && (
        <p className={styles.soft}>No commit belongs to it yet.</p>
      )}
      <ul className={styles.rows}>
        {bead.checkedCommits.map((commit) => (
          <li key={commit.id} className={styles.row}>
            <ShortId id={commit.id} />
            <span className={styles.grow}>{commit.subject ?? "not in this repository"}</span>
            <Badge tone={commit.landed ? "ok" : commit.present ? "plain" : "bad"}>
              {commit.landed ? "landed" : commit.present ? "not landed" : "missing"}
            </Badge>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Starts an agent on a bead that is not done and that no other one works on. */
function SpawnOn({ bead, agents }: { bead: BeadDetail; agents: readonly Agent[] }) {
  const busy = agents.find(isAlive);
  const why = busy ? `${busy.label} works on it.` : undefined;
  return (
    <Guarded
      size="small"
      can="agent:create:own"
      cli={`godel agent spawn --bead ${bead.id}`}
      refused={bead.status === "done" ? "It is done." : why}
      onClick={() => navigate(`/agents?spawn=${encodeURIComponent(bead.id)}`)}
    >
      <Icon name="plus" size={14} />
      Spawn an agent on it
    </Guarded>
  );
}

function Sessions({
  talks,
}: {
  talks: readonly { id: string; agent: string; status: string; nodes: number; createdAt: string }[];
}) {
  if (talks.length === 0) return <p className={styles.soft}>There is no session of it.</p>;
  return (
    <ul className={styles.rows}>
      {talks.map((talk) => (
        <li key={talk.id} className={styles.row}>
          <ShortId id={talk.id} />
          <span className={styles.grow}>
            <Link to={`/agents/${encodeURIComponent(talk.agent)}?tab=session`}>{talk.agent}</Link>,{" "}
            {talk.status}, {plural(talk.nodes, "node")}
          </span>
          <Time at={talk.createdAt} />
        </li>
      ))}
    </ul>
  );
}
