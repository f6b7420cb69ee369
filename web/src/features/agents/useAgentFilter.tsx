import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { useAction } from "../../actions/actions";
import { FILTER } from "../../actions/common";
import type { Agent } from "../../api/types";
import { setParams, useParam } from "../../router/router";
import { FilterBox, Select } from "../../ui/PageHead";
import { agentQueries } from "./queries";
import { LOOKS, NO_TEAM, VIEWS } from "./views";

const FILTERS = ["q", "status", "runtime", "model", "team"] as const;

/** Shows all agents again. */
export function clearFilter(): void {
  setParams(Object.fromEntries(FILTERS.map((name) => [name, undefined])));
}

/** The names of teams by their ids, as far as agents work for any. */
export function useTeamNames(agents: readonly Agent[]): ReadonlyMap<string, string> {
  const isAsked = agents.some((agent) => agent.teamId);
  const { data } = useQuery({ ...agentQueries.teams, enabled: isAsked });
  return useMemo(() => new Map(data?.items.map(({ id, name }) => [id, name])), [data]);
}

/** What the agents are narrowed by, and the controls for it; the address holds it. */
export function useAgentFilter(agents: readonly Agent[], teams: ReadonlyMap<string, string>) {
  const input = useRef<HTMLInputElement>(null);
  const [text = "", setText] = useParam("q");
  const [view = "", setView] = useParam("status");
  const [runtime = "", setRuntime] = useParam("runtime");
  const [model = "", setModel] = useParam("model");
  const [team = "", setTeam] = useParam("team");
  useAction(FILTER, () => input.current?.focus(), { title: "Filter the agents" });
  const filter = useMemo(
    () => ({ text, view, runtime, model, team }),
    [text, view, runtime, model, team],
  );
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
      <WordSelect
        label="Runtime"
        any="Any runtime"
        value={runtime}
        onChange={setRuntime}
        words={agents.map((agent) => agent.runtime)}
      />
      <WordSelect
        label="Model"
        any="Any model"
        value={model}
        onChange={setModel}
        words={agents.map((agent) => agent.model)}
      />
      {(teams.size > 0 || team !== "") && (
        <Select
          label="Team"
          value={team}
          onChange={setTeam}
          options={[["", "Any team"], [NO_TEAM, "No team"], ...teams]}
        />
      )}
    </>
  );
  return { filter, tools, isSet: Object.values(filter).some((one) => one !== "") };
}

interface WordSelectProps {
  label: string;
  any: string;
  value: string;
  onChange: (value: string) => void;
  words: readonly string[];
}

/** A choice among the words that agents have; where all have the same there is none. */
function WordSelect({ label, any, value, onChange, words }: WordSelectProps) {
  const known = [...new Set(words)].toSorted();
  if (known.length < 2 && value === "") return null;
  const options = known.map((word) => [word, word] as const);
  return (
    <Select label={label} value={value} onChange={onChange} options={[["", any], ...options]} />
  );
}
