import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { useAction } from "../../actions/actions";
import { CREATE, FILTER } from "../../actions/common";
import type { Team } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { setParams, useParam } from "../../router/router";
import { Boundary } from "../../ui/Boundary";
import { Empty, EmptyFilter } from "../../ui/Empty";
import { plural, words } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Loaded } from "../../ui/Loaded";
import { FilterBox, PageHead, Select } from "../../ui/PageHead";
import { SkeletonRows } from "../../ui/Skeleton";
import { PartialBadge } from "../../ui/Status";
import { useColumns } from "../../ui/table/ColumnChooser";
import { teamQueries } from "./queries";
import { byAttention, TEAM_STATES } from "./states";
import { TeamDrawer } from "./TeamDrawer";
import { TeamPeek } from "./TeamPeek";
import styles from "./TeamsPage.module.css";
import { COLUMNS, TeamTable } from "./TeamTable";

const NONE: readonly Team[] = [];
const CAN_CREATE = "team:create:team";

/** Several workers or agents at one job: how each team stands, and what can be done with it. */
export function Page() {
  const query = useQuery(teamQueries.all);
  const all = query.data?.items ?? NONE;
  const [isNew, setNew] = useParam("new");
  const [edited, setEdited] = useParam("edit");
  const [peek, setPeek] = useParam("team");
  const toEdit = all.find(({ id }) => id === edited);
  const create = () => setNew("1");
  useAction(CREATE, create, { title: "Create a team", cli: "godel team create FILE" });
  const { shown, chooser } = useColumns("teams", COLUMNS);
  const { teams, tools, isSet } = useFilter(all);
  return (
    <>
      <PageHead
        title="Teams"
        note={
          query.data && (
            <>
              {plural(teams.length, "team")}{" "}
              {query.data.isCut && (
                <PartialBadge kind="limited" why={`Only the newest ${all.length}`} />
              )}
            </>
          )
        }
        tools={tools}
        acts={
          <>
            {chooser}
            <CreateButton onCreate={create} />
          </>
        }
      />
      <div className={styles.body}>
        <Boundary what="The list of teams">
          <div className={styles.list}>
            <Loaded query={query} what="The teams" skeleton={<SkeletonRows height={40} />}>
              {({ items }) => {
                if (items.length === 0) return <NoTeams onCreate={create} />;
                if (teams.length === 0 && isSet) {
                  return <EmptyFilter what="teams" onClear={clearFilter} />;
                }
                return (
                  <TeamTable
                    teams={teams}
                    shown={shown}
                    peeked={peek}
                    onPeek={({ id }) => setPeek(id)}
                  />
                );
              }}
            </Loaded>
          </div>
        </Boundary>
        {peek !== undefined && (
          <Boundary key={peek} what="The team">
            <TeamPeek id={peek} onClose={() => setPeek(undefined)} />
          </Boundary>
        )}
      </div>
      {isNew !== undefined && <TeamDrawer onClose={() => setNew(undefined)} />}
      {toEdit && <TeamDrawer key={toEdit.id} team={toEdit} onClose={() => setEdited(undefined)} />}
    </>
  );
}

function useFilter(all: readonly Team[]) {
  const input = useRef<HTMLInputElement>(null);
  const [text = "", setText] = useParam("q");
  const [state = "", setState] = useParam("state");
  useAction(FILTER, () => input.current?.focus(), { title: "Filter the teams" });
  const teams = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    return byAttention(all).filter(
      (team) =>
        (state === "" || team.state === state) &&
        `${team.name} ${team.strategy} ${team.id} ${team.alert ?? ""}`
          .toLowerCase()
          .includes(wanted),
    );
  }, [all, text, state]);
  const tools = (
    <>
      <FilterBox
        ref={input}
        label="Filter the teams"
        placeholder="Filter"
        value={text}
        onChange={setText}
      />
      <Select
        label="State"
        value={state}
        options={[["", "Any state"], ...TEAM_STATES.map((one) => [one, words(one)] as const)]}
        onChange={setState}
      />
    </>
  );
  return { teams, tools, isSet: text !== "" || state !== "" };
}

function clearFilter(): void {
  setParams({ q: undefined, state: undefined });
}

function CreateButton({ onCreate }: { onCreate: () => void }) {
  return (
    <Guarded
      look="solid"
      size="small"
      align="end"
      can={CAN_CREATE}
      cli="godel team create FILE"
      onClick={onCreate}
    >
      <Icon name="plus" size={14} />
      New team
    </Guarded>
  );
}

function NoTeams({ onCreate }: { onCreate: () => void }) {
  return (
    <Empty
      icon="teams"
      why="There is no team yet. One lets several workers or agents do one job, by a strategy."
      action={<CreateButton onCreate={onCreate} />}
      cli="godel team create review.json --start"
    />
  );
}
