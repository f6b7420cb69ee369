import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { useAction } from "../../actions/actions";
import { FILTER } from "../../actions/common";
import type { Agent } from "../../api/types";
import type { PageProps } from "../../pages";
import { currentPlace, navigate, setParams, useChoice, useParam } from "../../router/router";
import { Boundary } from "../../ui/Boundary";
import { Empty, EmptyFilter } from "../../ui/Empty";
import { plural } from "../../ui/format";
import { Loaded } from "../../ui/Loaded";
import { FilterBox, PageHead, Select } from "../../ui/PageHead";
import { SkeletonCards } from "../../ui/Skeleton";
import { PartialBadge } from "../../ui/Status";
import { Segmented } from "../../ui/Tabs";
import { useColumns } from "../../ui/table/ColumnChooser";
import { useProject } from "../projects/queries";
import { AgentCards } from "./AgentCards";
import { AgentPeek } from "./AgentPeek";
import styles from "./AgentsPage.module.css";
import { AgentTable, COLUMNS } from "./AgentTable";
import { AGENT } from "./actions";
import { agentQueries } from "./queries";
import { byAttention, LOOKS, matches, VIEWS } from "./views";

const SHAPES = ["cards", "table"] as const;
const FILTERS = ["q", "status", "runtime", "model"] as const;

/** Every agent, those that need a person first. */
export function Page({ rest }: PageProps) {
  const { projectId } = useProject();
  const query = useQuery(agentQueries.all(projectId));
  const [shape, setShape] = useChoice("view", SHAPES, "cards");
  useAction(AGENT.look, () => setShape(shape === "cards" ? "table" : "cards"));
  const { shown, chooser } = useColumns("agents", COLUMNS);
  const { filter, tools, isSet } = useFilter(query.data?.items ?? []);
  const agents = useMemo(
    () => byAttention(query.data?.items ?? []).filter((agent) => matches(agent, filter)),
    [query.data, filter],
  );
  const [param, setPeek] = useParam("peek");
  const peek = rest[0] ?? param;
  const openPeek = (agent: Agent) => {
    if (rest[0] !== undefined) navigate(`/agents${currentPlace().search}`, { replace: true });
    setPeek(agent.id);
  };
  const closePeek = () => {
    if (rest[0] === undefined) setPeek(undefined);
    else navigate(`/agents${currentPlace().search}`);
  };
  const peeked = query.data?.items.find((agent) => agent.id === peek || agent.label === peek);
  const shared = { agents, peeked: peeked?.id, onPeek: openPeek };
  return (
    <>
      <PageHead
        title="Agents"
        note={
          query.data && (
            <>
              {plural(agents.length, "agent")}{" "}
              {query.data.isCut && (
                <PartialBadge kind="limited" why={`Only the newest ${query.data.items.length}`} />
              )}
            </>
          )
        }
        tools={tools}
        acts={
          <>
            {shape === "table" && chooser}
            <Segmented
              label="Show as"
              options={[
                { id: "cards", title: "Cards" },
                { id: "table", title: "Table" },
              ]}
              value={shape}
              onChange={setShape}
            />
          </>
        }
      />
      <div className={styles.body}>
        <Boundary what="The list of agents">
          <div className={styles.list}>
            <Loaded query={query} what="The agents" skeleton={<CardBones />}>
              {(data) => {
                if (data.items.length === 0) return <NoAgents />;
                if (agents.length === 0 && isSet) {
                  return <EmptyFilter what="agents" onClear={clearFilter} />;
                }
                if (shape === "cards") return <AgentCards {...shared} />;
                return <AgentTable {...shared} shown={shown} />;
              }}
            </Loaded>
          </div>
        </Boundary>
        {peeked && (
          <Boundary key={peeked.id} what="The agent">
            <AgentPeek agent={peeked} onClose={closePeek} />
          </Boundary>
        )}
      </div>
    </>
  );
}

function clearFilter(): void {
  setParams(Object.fromEntries(FILTERS.map((name) => [name, undefined])));
}

function CardBones() {
  return (
    <div className={styles.bones}>
      <SkeletonCards height={156} />
    </div>
  );
}

function NoAgents() {
  return (
    <Empty
      icon="agents"
      why="No agent has been started yet. One works on a bead, in a worktree of its own."
      cli={'godel agent spawn "Fix the login form"'}
    />
  );
}

function useFilter(agents: readonly Agent[]) {
  const input = useRef<HTMLInputElement>(null);
  const [text = "", setText] = useParam("q");
  const [view = "", setView] = useParam("status");
  const [runtime = "", setRuntime] = useParam("runtime");
  const [model = "", setModel] = useParam("model");
  useAction(FILTER, () => input.current?.focus(), { title: "Filter the agents" });
  const filter = useMemo(() => ({ text, view, runtime, model }), [text, view, runtime, model]);
  const tools = (
    <>
      <FilterBox
        ref={input}
        label="Filter the agents"
        placeholder="Filter"
        value={text}
        onChange={setText}
      />
      <Select
        label="Status"
        value={view}
        onChange={setView}
        options={[["", "Any status"], ...VIEWS.map((one) => [one, LOOKS[one].title] as const)]}
      />
      <Select
        label="Runtime"
        value={runtime}
        onChange={setRuntime}
        options={[["", "Any runtime"], ...choices(agents.map((agent) => agent.runtime))]}
      />
      <Select
        label="Model"
        value={model}
        onChange={setModel}
        options={[["", "Any model"], ...choices(agents.map((agent) => agent.model))]}
      />
    </>
  );
  return { filter, tools, isSet: [text, view, runtime, model].some((one) => one !== "") };
}

function choices(words: readonly string[]): (readonly [string, string])[] {
  return [...new Set(words)].toSorted().map((word) => [word, word] as const);
}
