import { useRef, useState } from "react";
import { useAction } from "../../actions/actions";
import { CREATE, FILTER } from "../../actions/common";
import type { PageProps } from "../../pages";
import { Guarded } from "../../roles/Guarded";
import { currentPlace, navigate, setParams, useChoice, useParam } from "../../router/router";
import { Boundary } from "../../ui/Boundary";
import { Empty, EmptyFilter } from "../../ui/Empty";
import { LinkButton } from "../../ui/LinkButton";
import { Loaded } from "../../ui/Loaded";
import { Menu } from "../../ui/Menu";
import { FilterBox, PageHead } from "../../ui/PageHead";
import { SkeletonCards } from "../../ui/Skeleton";
import { Segmented } from "../../ui/Tabs";
import { HowMany } from "../beads/HowMany";
import { PeekedBead } from "../beads/panel/PeekedBead";
import { Rest } from "../beads/Rest";
import { useProject } from "../projects/queries";
import { ViewMenu } from "../views/ViewMenu";
import { Board } from "./Board";
import styles from "./Board.module.css";
import { LANES } from "./board";
import { InlineCreate } from "./InlineCreate";
import { NewConvoy } from "./NewConvoy";
import { useBoard } from "./useBoard";

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
  const view = useView();
  const [only] = rest;
  const { query, convoys, graph, board, shown, wanted, lanes, onPage } = useBoard({
    projectId,
    only,
    ...view,
  });
  const [isNaming, setNaming] = useState(false);
  useAction(CREATE, () => setNaming(true), {
    title: "New convoy",
    cli: 'godel convoy create "..."',
  });
  const [peek, setPeek] = useParam("peek");
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
                  const action = <LinkButton to="/convoys">Show all convoys</LinkButton>;
                  return <Empty icon="convoys" why={why} action={action} cli="godel convoy list" />;
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
