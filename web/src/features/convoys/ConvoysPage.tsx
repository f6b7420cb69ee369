import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useMemo, useRef, useState } from "react";
import { useAction } from "../../actions/actions";
import { CREATE, FILTER } from "../../actions/common";
import type { Listing } from "../../api/list";
import type { Bead, Convoy } from "../../api/types";
import type { PageProps } from "../../pages";
import { Guarded } from "../../roles/Guarded";
import { currentPlace, navigate, setParams, useChoice, useParam } from "../../router/router";
import { Boundary } from "../../ui/Boundary";
import { Empty, EmptyFilter } from "../../ui/Empty";
import { Loaded } from "../../ui/Loaded";
import { Menu } from "../../ui/Menu";
import { FilterBox, PageHead } from "../../ui/PageHead";
import { SkeletonCards } from "../../ui/Skeleton";
import { Segmented } from "../../ui/Tabs";
import { HowMany } from "../beads/HowMany";
import { PeekedBead } from "../beads/panel/PeekedBead";
import { useBeads } from "../beads/queries";
import { Rest } from "../beads/Rest";
import { useProject } from "../projects/queries";
import { ViewMenu } from "../views/ViewMenu";
import { Board } from "./Board";
import styles from "./Board.module.css";
import { isSettled, LANES, lanesOf, onBoard } from "./board";
import { InlineCreate } from "./InlineCreate";
import { NewConvoy } from "./NewConvoy";
import { convoyQueries } from "./queries";

/** What makes a view of the board, and those that all need. */
const BOARD_VIEWS = {
  page: "convoys",
  fields: ["q", "lanes", "dropped", "archived"],
  builtIn: [
    ["By convoy", ""],
    ["By agent", "lanes=agent"],
    ["One board", "lanes=none"],
  ],
} as const;

/** The board: beads in columns, in lanes by convoy, by agent or in none. */
export function Page({ rest }: PageProps) {
  const { projectId } = useProject();
  const { query, graph, beads } = useBeads(projectId);
  const convoys = useQuery(convoyQueries.all(projectId));
  const view = useView();
  const [only] = rest;
  const [isNaming, setNaming] = useState(false);
  useAction(CREATE, () => setNaming(true), {
    title: "New convoy",
    cli: 'godel convoy create "..."',
  });
  const [peek, setPeek] = useParam("peek");
  const { shown, wanted, lanes, onPage } = useShown(beads, convoys.data?.items, only, view);
  const hasLanes = only !== undefined || view.lanes === "convoy";
  const board = together(query, hasLanes ? convoys : undefined, () => isSettled(lanes, graph.byId));
  return (
    <>
      <PageHead
        title="Convoys"
        note={query.data && <HowMany found={onPage.length} listing={query.data} />}
        tools={
          <>
            {view.tools}
            <ViewMenu {...BOARD_VIEWS} />
          </>
        }
        acts={<Acts isOne={only !== undefined} onNew={() => setNaming(true)} />}
      />
      <div className={styles.body}>
        <div className={styles.list}>
          <Boundary what="The board">
            <Loaded query={board} what="The board" skeleton={<Bones />}>
              {({ items }) => {
                if (items.length === 0 && wanted.length === 0)
                  return <NoBeads project={projectId} />;
                if (view.text !== "" && shown.length === 0) {
                  return <EmptyFilter what="beads" onClear={() => setParams({ q: undefined })} />;
                }
                if (only !== undefined && convoys.data && wanted.length === 0) {
                  const why = `There is no convoy ${only}.`;
                  return <Empty icon="convoys" why={why} cli="godel convoy list" />;
                }
                return (
                  <Board
                    lanes={lanes}
                    beads={onPage}
                    graph={graph}
                    project={projectId}
                    peeked={peek}
                    onPeek={setPeek}
                  />
                );
              }}
            </Loaded>
          </Boundary>
          <Rest query={query} projectId={projectId}>
            Cards of the others are missing.
          </Rest>
        </div>
        <PeekedBead id={peek} graph={graph} onOpen={setPeek} onClose={() => setPeek(undefined)} />
      </div>
      {isNaming && <NewConvoy beads={[]} onClose={() => setNaming(false)} />}
    </>
  );
}

type Answer<T> = Pick<UseQueryResult<T>, "data" | "error" | "refetch" | "isFetching">;

/**
 * Beads and convoys as one answer. Beads without their convoys would stand in one lane and be torn apart a moment
 * later, and so would a board of the first beads; `isSettled` tells whether the rest moves nothing any more.
 */
function together(
  beads: Answer<Listing<Bead>>,
  convoys: Answer<Listing<Convoy>> | undefined,
  isSettled: () => boolean,
): Answer<Listing<Bead>> {
  const isReady = !convoys || convoys.data !== undefined;
  const isShown = isReady && (!beads.data?.isPart || isSettled());
  return {
    data: isShown ? beads.data : undefined,
    error: beads.error ?? convoys?.error ?? null,
    isFetching: beads.isFetching || convoys?.isFetching === true,
    refetch: (options) => {
      convoys?.refetch(options);
      return beads.refetch(options);
    },
  };
}

/** The beads and lanes that are on the page: of all convoys, or of the one in the address. */
function useShown(
  beads: readonly Bead[],
  convoys: readonly Convoy[] | undefined,
  only: string | undefined,
  view: ReturnType<typeof useView>,
) {
  // What is typed shows at once; the board may follow a moment later.
  const asked = useDeferredValue(view.text);
  const shown = useMemo(() => {
    const text = asked.toLowerCase();
    const found = onBoard(beads, view.hasDropped);
    if (text === "") return found;
    return found.filter(({ id, title }) => `${id} ${title}`.toLowerCase().includes(text));
  }, [beads, asked, view.hasDropped]);
  const wanted = useMemo(
    () =>
      (convoys ?? []).filter(({ id, status }) =>
        only === undefined ? status !== "archived" || view.hasArchived : id === only,
      ),
    [convoys, only, view.hasArchived],
  );
  const lanes = useMemo(() => {
    const all = lanesOf(shown, only === undefined ? view.lanes : "convoy", wanted);
    return only === undefined ? all : all.filter(({ id }) => id === only);
  }, [shown, view.lanes, wanted, only]);
  const inside = useMemo(() => new Set(lanes.flatMap((lane) => lane.convoy?.beads ?? [])), [lanes]);
  const onPage = only === undefined ? shown : shown.filter(({ id }) => inside.has(id));
  return { shown, wanted, lanes, onPage };
}

function Acts({ isOne, onNew }: { isOne: boolean; onNew: () => void }) {
  return (
    <>
      {isOne && (
        <Guarded onClick={() => navigate(`/convoys${currentPlace().search}`)}>All convoys</Guarded>
      )}
      <Guarded can="convoy:create:own" cli='godel convoy create "..."' onClick={onNew}>
        New convoy
      </Guarded>
    </>
  );
}

const TITLES = { convoy: "Convoy", agent: "Agent", none: "No lanes" } as const;

/** What the reader chose to see; the address holds it. */
function useView() {
  const input = useRef<HTMLInputElement>(null);
  const [text = "", setText] = useParam("q");
  const [lanes, setLanes] = useChoice("lanes", LANES, "convoy");
  const [dropped, setDropped] = useParam("dropped");
  const [archived, setArchived] = useParam("archived");
  useAction(FILTER, () => input.current?.focus(), { title: "Filter the board" });
  const tools = (
    <>
      <FilterBox
        ref={input}
        label="Filter the board"
        placeholder="Filter"
        value={text}
        onChange={setText}
      />
      <Segmented
        label="Lanes by"
        options={LANES.map((id) => ({ id, title: TITLES[id] }))}
        value={lanes}
        onChange={setLanes}
      />
      <Menu
        label="Show also"
        look="line"
        align="left"
        button="Show"
        items={[
          {
            id: "dropped",
            title: "What won’t be done",
            isChosen: dropped !== undefined,
            run: () => setDropped(dropped === undefined ? "yes" : undefined),
          },
          {
            id: "archived",
            title: "Archived convoys",
            isChosen: archived !== undefined,
            run: () => setArchived(archived === undefined ? "yes" : undefined),
          },
        ]}
      />
    </>
  );
  return {
    text,
    lanes,
    tools,
    hasDropped: dropped !== undefined,
    hasArchived: archived !== undefined,
  };
}

function Bones() {
  return (
    <div className={styles.bones}>
      <SkeletonCards cards={8} height={96} />
    </div>
  );
}

const ALL = {
  id: "all",
  title: "All beads",
  cells: { open: [], "in-progress": [], review: [], done: [] },
};

function NoBeads({ project }: { project: string | undefined }) {
  return (
    <Empty
      icon="convoys"
      why="There are no beads yet. A bead is one thing to be done; a convoy bundles those that belong together."
      action={
        <div className={styles.first}>
          <InlineCreate lane={ALL} status="open" project={project} />
        </div>
      }
      cli={'godel bead create "Fix the login form"'}
    />
  );
}
