import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useMemo } from "react";
import { useAction } from "../../actions/actions";
import { CREATE } from "../../actions/common";
import type { Agent } from "../../api/types";
import type { PageProps } from "../../pages";
import { Guarded } from "../../roles/Guarded";
import { navigate, useChoice, useParam } from "../../router/router";
import { Boundary } from "../../ui/Boundary";
import { Empty, EmptyFilter } from "../../ui/Empty";
import { plural } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Loaded } from "../../ui/Loaded";
import { PageHead } from "../../ui/PageHead";
import { SkeletonCards } from "../../ui/Skeleton";
import { PartialBadge } from "../../ui/Status";
import { Segmented } from "../../ui/Tabs";
import { useColumns } from "../../ui/table/ColumnChooser";
import { useProject } from "../projects/queries";
import { ViewMenu } from "../views/ViewMenu";
import { AgentCards } from "./AgentCards";
import { AgentNumbers } from "./AgentNumbers";
import { AgentPeek } from "./AgentPeek";
import styles from "./AgentsPage.module.css";
import { AgentTable, COLUMNS } from "./AgentTable";
import { LOOK } from "./actions";
import { AgentDetail } from "./detail/AgentDetail";
import { MessageHost } from "./MessageDialog";
import { LetterHost } from "./mail/LetterHost";
import { agentQueries } from "./queries";
import { Kept } from "./snapshots/Kept";
import { SpawnDrawer } from "./spawn/SpawnDrawer";
import { countGone } from "./useAgentActs";
import { clearFilter, useAgentFilter, useTeamNames } from "./useAgentFilter";
import { VerbDialogHost } from "./VerbDialogs";
import { byAttention, matches } from "./views";

const SHAPES = ["cards", "teams", "table"] as const;
/** What makes a view of agents, and those that all need. */
const AGENT_VIEWS = {
  page: "agents",
  fields: ["q", "status", "runtime", "model", "team", "view", "sort"],
  builtIn: [
    ["All agents", ""],
    ["Waiting for you", "status=waiting"],
    ["At work", "status=busy"],
    ["By team", "view=teams"],
  ],
} as const;
/** A row with all columns is wider than most screens. */
const HIDDEN_AT_FIRST = ["model", "updated"];
const CAN_SPAWN = "agent:create:own";

/** Every agent, those that need a person first; or all about one. */
export function Page({ rest: [name] }: PageProps) {
  const [spawning, setSpawning] = useParam("spawn");
  const spawn = () => setSpawning("1");
  useAction(CREATE, spawn, { title: "Spawn an agent", cli: "godel agent spawn" });
  return (
    <>
      {name === undefined ? (
        <AgentList onSpawn={spawn} />
      ) : (
        <Boundary key={name} what="The agent">
          <AgentDetail name={name} />
        </Boundary>
      )}
      {spawning !== undefined && (
        <SpawnDrawer
          bead={spawning === "1" ? undefined : spawning}
          onClose={() => setSpawning(undefined)}
        />
      )}
      <MessageHost />
      <LetterHost />
      <VerbDialogHost />
    </>
  );
}

function AgentList({ onSpawn }: { onSpawn: () => void }) {
  const { projectId } = useProject();
  const query = useQuery(agentQueries.all(projectId));
  const all = query.data?.items ?? NONE;
  const [shape, setShape] = useChoice("view", SHAPES, "cards");
  useAction(LOOK, () => setShape(shape === "table" ? "cards" : "table"));
  const { shown, chooser } = useColumns("agents", COLUMNS, HIDDEN_AT_FIRST);
  const teams = useTeamNames(all);
  const { filter, tools, isSet } = useAgentFilter(all, teams);
  const sorted = useMemo(() => byAttention(all), [all]);
  // What is typed shows at once; the list may follow a moment later.
  const asked = useDeferredValue(filter);
  const agents = useMemo(() => sorted.filter((agent) => matches(agent, asked)), [sorted, asked]);
  const [peek, setPeek] = useParam("peek");
  const peeked = all.find((agent) => agent.id === peek || agent.label === peek);
  const shared = {
    agents,
    peeked: peeked?.id,
    onPeek: (agent: Agent) => setPeek(agent.id),
    onOpen: (agent: Agent) => navigate(`/agents/${encodeURIComponent(agent.id)}`),
  };
  return (
    <>
      <PageHead
        title="Agents"
        note={
          query.data && <HowMany shown={agents.length} all={all.length} isCut={query.data.isCut} />
        }
        tools={
          <>
            {tools}
            <ViewMenu {...AGENT_VIEWS} />
          </>
        }
        acts={
          <>
            {shape === "table" && chooser}
            <Segmented label="Show as" options={SHAPE_TITLES} value={shape} onChange={setShape} />
            <Kept />
            <SpawnButton onSpawn={onSpawn} />
          </>
        }
      />
      <AgentNumbers />
      <div className={styles.body}>
        <Boundary what="The list of agents">
          <div className={styles.list}>
            <Loaded query={query} what="The agents" skeleton={<CardBones />}>
              {(data) => {
                if (data.items.length === 0) return <NoAgents onSpawn={onSpawn} />;
                if (agents.length === 0 && isSet) {
                  return <EmptyFilter what="agents" onClear={clearFilter} />;
                }
                const gone = countGone(all);
                if (shape === "table") return <AgentTable key={gone} {...shared} shown={shown} />;
                return (
                  <AgentCards
                    key={gone}
                    {...shared}
                    teams={shape === "teams" ? teams : undefined}
                  />
                );
              }}
            </Loaded>
          </div>
        </Boundary>
        {peeked && (
          <Boundary key={peeked.id} what="The agent">
            <AgentPeek agent={peeked} onClose={() => setPeek(undefined)} />
          </Boundary>
        )}
      </div>
    </>
  );
}

const NONE: readonly Agent[] = [];
const SHAPE_TITLES = [
  { id: "cards", title: "Cards" },
  { id: "teams", title: "Teams" },
  { id: "table", title: "Table" },
] as const;

function HowMany({ shown, all, isCut }: { shown: number; all: number; isCut: boolean }) {
  return (
    <>
      {plural(shown, "agent")}{" "}
      {isCut && <PartialBadge kind="limited" why={`Only the newest ${all}`} />}
    </>
  );
}

function SpawnButton({ onSpawn }: { onSpawn: () => void }) {
  return (
    <Guarded
      look="solid"
      size="small"
      align="end"
      can={CAN_SPAWN}
      cli="godel agent spawn"
      onClick={onSpawn}
    >
      <Icon name="plus" size={14} />
      Spawn
    </Guarded>
  );
}

function CardBones() {
  return (
    <div className={styles.bones}>
      <SkeletonCards height={192} />
    </div>
  );
}

function NoAgents({ onSpawn }: { onSpawn: () => void }) {
  return (
    <Empty
      icon="agents"
      why="No agent has been started yet. One works on a bead, in a worktree of its own."
      action={<SpawnButton onSpawn={onSpawn} />}
      cli={'godel agent spawn "Fix the login form"'}
    />
  );
}
