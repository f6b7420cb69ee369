import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { useAction } from "../../actions/actions";
import { CREATE, FILTER } from "../../actions/common";
import type { Bead, Convoy } from "../../api/types";
import type { PageProps } from "../../pages";
import { Guarded } from "../../roles/Guarded";
import { useSession } from "../../roles/session";
import { currentPlace, navigate, setParams, useChoice, useParam } from "../../router/router";
import { Boundary } from "../../ui/Boundary";
import { Button } from "../../ui/Button";
import { Empty, EmptyFilter } from "../../ui/Empty";
import { eachWhenIdle } from "../../ui/idle";
import { Loaded } from "../../ui/Loaded";
import { PageHead, Select } from "../../ui/PageHead";
import { SkeletonRows } from "../../ui/Skeleton";
import { Segmented } from "../../ui/Tabs";
import { useColumns } from "../../ui/table/ColumnChooser";
import type { Column } from "../../ui/table/DataTable";
import { useLatest } from "../../ui/useLatest";
import { useNow } from "../../ui/useNow";
import { convoyQueries } from "../convoys/queries";
import { useProject } from "../projects/queries";
import { ViewMenu } from "../views/ViewMenu";
import { BEAD, MAY_CREATE } from "./actions";
import { BeadTable, COLUMNS } from "./BeadTable";
import styles from "./BeadTable.module.css";
import { BeadTree } from "./BeadTree";
import { ExchangeMenu } from "./exchange/ExchangeMenu";
import type { BeadGraph } from "./graph";
import { GROUP_TITLES, GROUPS } from "./groups";
import { HowMany } from "./HowMany";
import { byUrgency, resorted } from "./looks";
import { NewBead } from "./NewBead";
import { PeekedBead } from "./panel/PeekedBead";
import { useBeads, useFound } from "./queries";
import { matcher, said } from "./query/evaluate";
import { parseQuery } from "./query/parse";
import { QueryBox } from "./query/QueryBox";
import { Rest } from "./Rest";
import { TREES } from "./tree";
import { BEAD_VIEWS } from "./views";

const SHAPES = ["table", "tree"] as const;
const CREATE_CLI = 'godel bead create "..."';
const NO_CONVOYS: readonly Convoy[] = [];
const CHOOSABLE = COLUMNS as readonly Column<unknown>[];

/** Every bead: to find, to sort, to change. */
export function Page({ rest }: PageProps) {
  const { projectId } = useProject();
  const { query, graph, beads } = useBeads(projectId);
  const { data: convoys } = useQuery(convoyQueries.all(projectId));
  const view = useView();
  const isCut = query.data?.isCut ?? false;
  const { found, errors, beyond } = useAnswer({
    text: view.text,
    projectId,
    graph,
    beads,
    convoys,
    isCut,
  });
  const [isNew, setNew] = useState(false);
  useAction(CREATE, () => setNew(true), { title: "New bead", cli: CREATE_CLI });
  const box = useRef<{ focus: () => void }>(null);
  useAction(FILTER, () => box.current?.focus(), { title: "Ask for beads" });
  const { peek, open, close } = usePeek(rest[0]);
  const { shown, chooser } = useColumns("beads", CHOOSABLE);
  const all = convoys?.items ?? NO_CONVOYS;
  const shared = { beads: found, graph, peeked: peek, onPeek: open };
  return (
    <>
      <PageHead
        title="Beads"
        note={query.data && <HowMany found={found.length} listing={query.data} />}
        tools={
          <>
            <QueryBox
              ref={box}
              value={view.text}
              onChange={view.setText}
              errors={errors}
              beads={beads}
              convoys={all}
            />
            <ViewMenu {...BEAD_VIEWS} />
            {view.options}
          </>
        }
        acts={<Acts onNew={() => setNew(true)}>{view.shape === "table" && chooser}</Acts>}
      />
      <div className={styles.body}>
        <Boundary what="The list of beads">
          <div className={styles.list}>
            <Loaded query={query} what="The beads" skeleton={<SkeletonRows rows={14} />}>
              {({ items }) => {
                if (items.length === 0) return <NoBeads onNew={() => setNew(true)} />;
                if (found.length === 0) return <EmptyFilter what="beads" onClear={clearQuery} />;
                if (view.shape === "tree") return <BeadTree {...shared} kind={view.tree} />;
                return <BeadTable {...shared} convoys={all} group={view.group} shown={shown} />;
              }}
            </Loaded>
            <Rest query={query} found={beyond} projectId={projectId}>
              A query such as <code>label:web</code> looks through all of them.
            </Rest>
          </div>
        </Boundary>
        <PeekedBead id={peek} graph={graph} onOpen={open} onClose={close} />
      </div>
      {isNew && <NewBead project={projectId} onClose={() => setNew(false)} />}
    </>
  );
}

function Acts({ onNew, children }: { onNew: () => void; children: ReactNode }) {
  return (
    <>
      {children}
      <ExchangeMenu />
      <Guarded look="solid" can={MAY_CREATE} cli={CREATE_CLI} onClick={onNew}>
        New bead
      </Guarded>
    </>
  );
}

const clearQuery = () => setParams({ q: undefined });

interface Asked {
  text: string;
  projectId: string | undefined;
  graph: BeadGraph;
  beads: readonly Bead[];
  convoys: { items: readonly Convoy[] } | undefined;
  isCut: boolean;
}

/** The beads that a query asks for; what is not on the page is looked for on the server. */
function useAnswer({ text, projectId, graph, beads, convoys, isCut }: Asked) {
  const { errors } = useMemo(() => parseQuery(text), [text]);
  // What is typed shows at once; the list may follow a moment later.
  const asked = useDeferredValue(text);
  const { terms, sound } = useMemo(() => parseQuery(asked), [asked]);
  const { actor } = useSession();
  const now = useNow(60_000);
  const beyond = useFound(projectId, sound, isCut && terms.length > 0);
  // The first letter of a query must not wait for all words of all beads.
  useEffect(() => eachWhenIdle(beads, said), [beads]);
  const order = useRef<readonly Bead[]>([]);
  const sorted = useMemo(() => {
    order.current = beyond
      ? beyond.items.toSorted(byUrgency)
      : resorted(order.current, beads, graph.byId);
    return order.current;
  }, [beyond, beads, graph]);
  const found = useMemo(() => {
    if (terms.length === 0) return sorted;
    const around = { graph, convoys: convoys?.items ?? [], me: actor, now };
    return sorted.filter(matcher(terms, around));
  }, [sorted, terms, graph, convoys, actor, now]);
  return { found, errors, beyond };
}

/** The bead in the panel: `/beads/ID` of a link, or a field of the address. */
function usePeek(first: string | undefined) {
  const [param, setPeek] = useParam("peek");
  const leave = () => {
    if (first !== undefined) navigate(`/beads${currentPlace().search}`, { replace: true });
  };
  const open = useLatest((id: string) => {
    leave();
    setPeek(id);
  });
  const close = () => {
    leave();
    setPeek(undefined);
  };
  return { peek: param ?? first, open, close };
}

/** What the reader chose to see; the address holds it. */
function useView() {
  const [text = "", setText] = useParam("q");
  const [shape, setShape] = useChoice("view", SHAPES, "table");
  const [tree, setTree] = useChoice("by", TREES, "parts");
  const [group, setGroup] = useChoice("group", GROUPS, "none");
  useAction(BEAD.look, () => setShape(shape === "table" ? "tree" : "table"));
  const options = (
    <>
      {shape === "table" ? (
        <Select
          label="Groups"
          value={group === "none" ? "" : group}
          onChange={(value) => setGroup(GROUPS.find((one) => one === value) ?? "none")}
          options={GROUPS.map((one) => [one === "none" ? "" : one, GROUP_TITLES[one]] as const)}
        />
      ) : (
        <Segmented
          label="Tree of"
          options={[
            { id: "parts", title: "Parts" },
            { id: "waits", title: "Waits on" },
          ]}
          value={tree}
          onChange={setTree}
        />
      )}
      <Segmented
        label="Show as"
        options={[
          { id: "table", title: "Table" },
          { id: "tree", title: "Tree" },
        ]}
        value={shape}
        onChange={setShape}
      />
    </>
  );
  return { text, setText, shape, tree, group, options };
}

function NoBeads({ onNew }: { onNew: () => void }) {
  return (
    <Empty
      icon="beads"
      why="There are no beads yet. A bead is one thing to be done; it lives in the git repository of its project."
      action={<Button onClick={onNew}>New bead</Button>}
      cli={'godel bead create "Fix the login form"'}
    />
  );
}
