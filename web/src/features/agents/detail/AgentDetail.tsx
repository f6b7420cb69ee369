import { useQuery } from "@tanstack/react-query";
import { useAction } from "../../../actions/actions";
import { BACK } from "../../../actions/common";
import { ApiError } from "../../../api/client";
import type { Agent } from "../../../api/types";
import { Guarded } from "../../../roles/Guarded";
import { Link } from "../../../router/Link";
import { navigate, useParam } from "../../../router/router";
import { Boundary } from "../../../ui/Boundary";
import { Button } from "../../../ui/Button";
import { Empty } from "../../../ui/Empty";
import { Icon } from "../../../ui/Icon";
import { Loaded } from "../../../ui/Loaded";
import { SkeletonRows } from "../../../ui/Skeleton";
import { type Tab, Tabs } from "../../../ui/Tabs";
import { NoticeCard } from "../../inbox/NoticeCard";
import { useNoticesOf } from "../../inbox/queries";
import { AgentStatus, AgentWalls } from "../AgentStatus";
import { AgentVerbs } from "../AgentVerbs";
import { DELETE } from "../actions";
import { agentQueries } from "../queries";
import { SessionTree } from "../session/SessionTree";
import { Terminal } from "../terminal/Terminal";
import { useAgentActs, useAgentKeys, whyNotDelete } from "../useAgentActs";
import { useForeignAgent } from "../useForeignAgent";
import { AboutAgent } from "./AboutAgent";
import styles from "./AgentDetail.module.css";
import { Changes } from "./Changes";
import { Context } from "./Context";
import { Cost } from "./Cost";
import { LogEvents } from "./LogEvents";
import { Timeline } from "./Timeline";

const TABS = [
  { id: "timeline", title: "Timeline" },
  { id: "terminal", title: "Terminal" },
  { id: "changes", title: "Changes" },
  { id: "context", title: "Context" },
  { id: "cost", title: "Cost" },
  { id: "session", title: "Session" },
  { id: "events", title: "Events" },
] as const satisfies readonly Tab<string>[];

type TabId = (typeof TABS)[number]["id"];

const VIEWS: Record<TabId, (props: { agent: Agent }) => React.ReactNode> = {
  timeline: Timeline,
  terminal: Terminal,
  changes: Changes,
  context: Context,
  cost: Cost,
  session: SessionTree,
  events: LogEvents,
};

/** One agent: what it did, says, changed and cost, and what can be done with it. */
export function AgentDetail({ name }: { name: string }) {
  const query = useAgent(name);
  const back = () => navigate("/agents");
  useAction(BACK, back, { title: "Back to the agents" });
  if (query.error instanceof ApiError && query.error.status === 404) {
    return (
      <Empty
        icon="agents"
        why={`There is no agent ${name}.`}
        action={<Button onClick={back}>Show all agents</Button>}
        cli="godel agent list"
      />
    );
  }
  return (
    <Loaded query={query} what="The agent" skeleton={<SkeletonRows />}>
      {(agent) => <Shown agent={agent} />}
    </Loaded>
  );
}

/** An address may have a name; events tell ids, so it is followed by its id. */
function useAgent(name: string) {
  const named = useQuery(agentQueries.one(name));
  const id = named.data?.id;
  const known = useQuery({ ...agentQueries.one(id ?? name), enabled: id !== undefined });
  return known.data ? known : named;
}

function Shown({ agent }: { agent: Agent }) {
  const { act, erase } = useAgentActs();
  useAgentKeys(agent, act);
  const foreign = useForeignAgent()(agent);
  const cli = `godel agent delete ${agent.label}`;
  const eraseIt = async () => {
    if (await erase(agent)) navigate("/agents");
  };
  useAction(DELETE, eraseIt, {
    title: `Delete ${agent.label}`,
    cli,
    disabled: foreign ?? whyNotDelete(agent),
  });
  const [tab] = useParam("tab");
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <div className={styles.titles}>
          <Link to="/agents" className={styles.back}>
            <Icon name="agents" size={14} />
            Agents
          </Link>
          <span aria-hidden="true">/</span>
          <h1 className={styles.title}>{agent.label}</h1>
          <AgentStatus agent={agent} />
          <AgentWalls agent={agent} />
        </div>
        <div className={styles.verbs}>
          <AgentVerbs agents={[agent]} act={act} />
          {whyNotDelete(agent) === undefined && (
            <Guarded
              size="small"
              look="bad"
              align="end"
              can={DELETE.can}
              destructive
              refused={foreign}
              cli={cli}
              onClick={eraseIt}
            >
              <Icon name="trash" size={14} />
              {DELETE.title}
            </Guarded>
          )}
        </div>
      </header>
      <div className={styles.body}>
        <div className={styles.main}>
          {tab !== undefined && tab !== "timeline" && <Waiting agent={agent} />}
          <Tabs label={`About ${agent.label}`} tabs={TABS}>
            {(chosen) => {
              const View = VIEWS[chosen];
              return (
                <Boundary key={chosen} what="This view">
                  <View agent={agent} />
                </Boundary>
              );
            }}
          </Tabs>
        </div>
        <AboutAgent agent={agent} />
      </div>
    </div>
  );
}

/** What it asks is in the timeline; on every other tab it must not be missed either. */
function Waiting({ agent }: { agent: Agent }) {
  const notices = useNoticesOf(agent.id);
  if (notices.length === 0) return null;
  return (
    <div className={styles.waiting}>
      {notices.map((notice) => (
        <NoticeCard key={notice.id} notice={notice} isOwn />
      ))}
    </div>
  );
}
