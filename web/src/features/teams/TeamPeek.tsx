import { useQuery } from "@tanstack/react-query";
import { useAction } from "../../actions/actions";
import { BACK } from "../../actions/common";
import type { Team } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Link } from "../../router/Link";
import { Cli } from "../../ui/Cli";
import { Disclosure } from "../../ui/Disclosure";
import { SidePanel } from "../../ui/Drawer";
import { Facts } from "../../ui/Facts";
import { count, duration, plural, shellWord } from "../../ui/format";
import { Loaded } from "../../ui/Loaded";
import { ProgressRing } from "../../ui/Meter";
import { Notice } from "../../ui/Notice";
import panel from "../../ui/Panel.module.css";
import { asSentence } from "../../ui/Sentence";
import { ShortId } from "../../ui/ShortId";
import { SkeletonRows } from "../../ui/Skeleton";
import { useNow } from "../../ui/useNow";
import { JsonText } from "../events/JsonText";
import { StateBadge } from "../queue/StateBadge";
import { TEAM, TEAM_ACTS } from "./actions";
import { teamQueries } from "./queries";
import { ScaleField } from "./ScaleField";
import { cliOf, countsOf, deadlineOf, isOver, rolesOf, whyNot } from "./states";
import styles from "./TeamPeek.module.css";
import { Spent } from "./TeamTable";
import { useTeamActs } from "./useTeamActs";

/** One team: how it stands, what can be done with it, and what came of it. */
export function TeamPeek({ id, onClose }: { id: string; onClose: () => void }) {
  useAction(BACK, onClose, { title: "Close the panel" });
  const query = useQuery(teamQueries.one(id));
  return (
    <SidePanel label="One team" head={query.data?.name ?? "Team"} onClose={onClose}>
      <Loaded query={query} what="The team" skeleton={<SkeletonRows rows={6} />}>
        {(team) => <Details team={team} />}
      </Loaded>
    </SidePanel>
  );
}

function Details({ team }: { team: Team }) {
  const { alert, error, result, runId } = team;
  return (
    <div className={panel.stack}>
      <div className={panel.line}>
        <StateBadge state={team.state} />
        <ProgressRing percent={team.progress * 100} />
      </div>
      <Verbs team={team} />
      {alert && <Notice tone="bad">{asSentence(alert)}</Notice>}
      {error && error !== alert && <p className={panel.bad}>{asSentence(error)}</p>}
      {!isOver(team) && <ScaleField team={team} />}
      <section aria-label="Spending">
        <h3 className={panel.head}>Spent</h3>
        <Spent team={team} />
      </section>
      <About team={team} />
      <Steps team={team} />
      {runId && <Link to={`/queue/runs/${runId}`}>Open its run</Link>}
      <Workers id={team.id} />
      {result !== null && result !== undefined && (
        <section aria-label="What came of it">
          <h3 className={panel.head}>What came of it</h3>
          <JsonText value={result} />
        </section>
      )}
      <Disclosure label="What was asked for">
        <JsonText value={team.spec} />
      </Disclosure>
      <Cli command={`godel team show ${shellWord(team.name)}`} />
    </div>
  );
}

/** Only what makes sense now is a button; the menu of the row has all. */
function Verbs({ team }: { team: Team }) {
  const { act } = useTeamActs();
  return (
    <div className={panel.line}>
      {TEAM_ACTS.filter((which) => whyNot(which, team) === undefined).map((which) => (
        <Guarded
          key={which}
          size="small"
          look={which === "start" ? "solid" : which === "cancel" ? "bad" : "line"}
          can={TEAM[which].can}
          destructive={"destructive" in TEAM[which]}
          cli={cliOf(which, team)}
          onClick={() => act(which, team)}
        >
          {TEAM[which].title}
        </Guarded>
      ))}
    </div>
  );
}

function About({ team }: { team: Team }) {
  const worked = useWorked(team);
  const deadline = deadlineOf(team);
  const items = Array.isArray(team.spec.items) ? team.spec.items.length : 0;
  const { goal } = team.spec;
  return (
    <Facts
      facts={[
        ["Strategy", team.strategy],
        ...(typeof goal === "string" ? ([["Goal", goal]] as const) : []),
        ["Work", items === 0 ? "the goal, in one piece" : plural(items, "piece")],
        ["Roles", rolesOf(team).join(", ")],
        ...(deadline ? ([["Deadline", { at: deadline }]] as const) : []),
        ["Worked for", worked === undefined ? "…" : duration(worked)],
        ["Made", { at: team.createdAt }],
        ...team.fallbacks.map((why) => ["Simpler now", why] as const),
      ]}
    />
  );
}

/** For how many seconds it has worked; that grows while nothing else is told. */
function useWorked(team: Team): number | undefined {
  const { data, dataUpdatedAt } = useQuery(teamQueries.metrics(team.id));
  const isCounting = !isOver(team) && team.state !== "created";
  useNow(5_000, isCounting);
  if (!data) return undefined;
  return data.seconds + (isCounting ? Math.floor((Date.now() - dataUpdatedAt) / 1000) : 0);
}

function Steps({ team }: { team: Team }) {
  const counts = countsOf(team);
  return (
    <section aria-label="Its tasks">
      <h3 className={panel.head}>Its tasks</h3>
      {counts.length === 0 ? (
        <p className={panel.soft}>
          {team.state === "created" ? "It is planned when it starts." : "Its run is gone."}
        </p>
      ) : (
        <ul className={panel.line}>
          {counts.map(([state, many]) => (
            <li key={state} className={styles.count} data-count={state}>
              <StateBadge state={state} />
              <span className="tabular">{count(many)}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Workers({ id }: { id: string }) {
  const { data } = useQuery(teamQueries.workers(id));
  if (!data || data.length === 0) return null;
  return (
    <section aria-label="Who works">
      <h3 className={panel.head}>Who works</h3>
      <ul>
        {data.map(({ workerId, tasks }) => (
          <li key={workerId}>
            Worker <ShortId id={workerId} /> has {plural(tasks, "task")}
          </li>
        ))}
      </ul>
    </section>
  );
}
