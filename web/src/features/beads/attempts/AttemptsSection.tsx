import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Agent, Attempt, Attempts, BeadDetail } from "../../../api/types";
import { Guarded } from "../../../roles/Guarded";
import { navigate, useParam } from "../../../router/router";
import { Button } from "../../../ui/Button";
import { duration } from "../../../ui/format";
import { Icon } from "../../../ui/Icon";
import { Loaded } from "../../../ui/Loaded";
import { Menu } from "../../../ui/Menu";
import { Money } from "../../../ui/Money";
import { SkeletonRows } from "../../../ui/Skeleton";
import { Badge } from "../../../ui/Status";
import { isAlive } from "../../agents/views";
import panel from "../panel/BeadPanel.module.css";
import { AttemptPreview } from "./AttemptPreview";
import { AttemptState } from "./AttemptState";
import styles from "./AttemptsSection.module.css";
import { gatesOf, isOpen, standing, whyNotPick } from "./attempts";
import { CompareAttempts } from "./CompareAttempts";
import { attemptQueries } from "./queries";
import { TryDrawer } from "./TryDrawer";
import { dropCli, pickCli, useAttemptActs } from "./useAttemptActs";
import { useForeignAttempts } from "./useForeignAttempts";

/** One bead, tried several ways: who tries it, how each stands, and which one is taken. */
export function AttemptsSection({ bead, agents }: { bead: BeadDetail; agents: readonly Agent[] }) {
  const query = useQuery(attemptQueries.of(bead));
  const [isTrying, setTrying] = useState(false);
  const [compared, setCompared] = useParam("attempt");
  const found = query.data;
  return (
    <section className={panel.section} aria-label="Attempts">
      <h3>Attempts</h3>
      <Loaded query={query} what="The attempts" skeleton={<SkeletonRows rows={2} />}>
        {(attempts) =>
          attempts ? (
            <Tried bead={bead} found={attempts} onCompare={(one) => setCompared(String(one))} />
          ) : (
            <p className={panel.soft}>It was not tried several ways yet.</p>
          )
        }
      </Loaded>
      {!(found && isOpen(found)) && (
        <Guarded
          size="small"
          can="agent:create:own"
          cli={`godel attempt start ${bead.id}`}
          refused={whyNotTry(bead, agents, found)}
          onClick={() => setTrying(true)}
        >
          <Icon name="fork" size={14} />
          Try it several ways
        </Guarded>
      )}
      {isTrying && <TryDrawer bead={bead} onClose={() => setTrying(false)} />}
      {found && compared !== undefined && (
        <CompareAttempts
          bead={bead}
          found={found}
          shown={compared}
          onShow={setCompared}
          onClose={() => setCompared(undefined)}
        />
      )}
    </section>
  );
}

function whyNotTry(
  bead: BeadDetail,
  agents: readonly Agent[],
  found: Attempts | null | undefined,
): string | undefined {
  if (found && ["picking", "dropping"].includes(found.state))
    return "The last choice is under way.";
  if (bead.status === "done" || bead.status === "review") return `It is ${bead.status}, not open.`;
  const busy = agents.find(isAlive);
  return busy ? `${busy.label} works on it.` : undefined;
}

interface TriedProps {
  bead: BeadDetail;
  found: Attempts;
  onCompare: (number: number) => void;
}

function Tried({ bead, found, onCompare }: TriedProps) {
  const { drop } = useAttemptActs(bead);
  const foreign = useForeignAttempts()(found);
  const [first] = found.attempts.filter(({ commit }) => commit);
  return (
    <>
      <p className={panel.row}>
        <span className={panel.grow}>{standing(found)}</span>
        {found.spentMicros !== null && found.spentMicros !== undefined && (
          <Money micros={found.spentMicros} />
        )}
      </p>
      <ul className={styles.list}>
        {found.attempts.map((attempt) => (
          <li key={attempt.number} className={styles.attempt} data-attempt={attempt.number}>
            <AttemptLine bead={bead} found={found} attempt={attempt} onCompare={onCompare} />
          </li>
        ))}
      </ul>
      <div className={styles.acts}>
        <Button
          size="small"
          disabled={!first}
          title={first ? undefined : "None of them has made a commit yet."}
          onClick={() => first && onCompare(first.number)}
        >
          Compare them
        </Button>
        {isOpen(found) && (
          <Guarded
            size="small"
            look="bad"
            can="agent:execute:own"
            destructive
            refused={foreign}
            cli={dropCli(bead.id)}
            onClick={() => drop(found)}
          >
            Drop all
          </Guarded>
        )}
      </div>
    </>
  );
}

function AttemptLine({ bead, found, attempt, onCompare }: TriedProps & { attempt: Attempt }) {
  const { pick } = useAttemptActs(bead);
  const foreign = useForeignAttempts()(found);
  const gates = gatesOf(attempt);
  return (
    <>
      <span className={styles.title}>
        <strong>{attempt.number}</strong>
        {attempt.model ?? "the model of the project"}
        <AttemptState attempt={attempt} />
      </span>
      <Menu
        label={`Do something with attempt ${attempt.number}`}
        size="small"
        items={[
          {
            id: "pick",
            title: "Pick it",
            icon: "check",
            can: "agent:execute:own",
            destructive: true,
            refused: foreign ?? whyNotPick(found, attempt),
            cli: pickCli(bead.id, attempt),
            run: () => pick(attempt),
          },
          {
            id: "diff",
            title: "See what it changed",
            icon: "review",
            refused: attempt.commit ? undefined : "It has made no commit yet.",
            cli: `godel attempt diff ${bead.id} ${attempt.number}`,
            run: () => onCompare(attempt.number),
          },
          {
            id: "agent",
            title: `Open ${attempt.agent}`,
            icon: "agents",
            cli: `godel agent show ${attempt.agent}`,
            run: () => navigate(`/agents/${encodeURIComponent(attempt.agentId)}`),
          },
        ]}
      />
      <span className={styles.facts}>
        {attempt.commit && (
          <Badge tone={gates.tone} {...(gates.why && { title: gates.why })}>
            {gates.word}
          </Badge>
        )}
        {attempt.commit ? (
          <span>
            <ins>+{attempt.added}</ins> <del>−{attempt.removed}</del>
          </span>
        ) : (
          <span>{attempt.note ?? "no commit yet"}</span>
        )}
        {attempt.spentMicros !== null && attempt.spentMicros !== undefined && (
          <Money micros={attempt.spentMicros} />
        )}
        {attempt.seconds !== null && attempt.seconds !== undefined && (
          <span>{duration(attempt.seconds)}</span>
        )}
      </span>
      <div className={styles.app}>
        <AttemptPreview attempt={attempt} foreign={foreign} />
      </div>
    </>
  );
}
