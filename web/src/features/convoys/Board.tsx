import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, memo, useEffect, useMemo, useRef, useState } from "react";
import { useAction } from "../../actions/actions";
import { LIST } from "../../actions/common";
import type { Bead } from "../../api/types";
import { useRefusal } from "../../roles/session";
import { NewRows } from "../../ui/NewRows";
import { useLatest } from "../../ui/useLatest";
import { useStored } from "../../ui/useStored";
import { useStartItem } from "../agents/spawn/useStartItem";
import { BEAD, MAY_CHANGE } from "../beads/actions";
import { BeadBar } from "../beads/BeadBar";
import { useMoveBeads } from "../beads/changes";
import type { BeadGraph } from "../beads/graph";
import { type BeadStatus, STATUSES } from "../beads/looks";
import { beadQueries } from "../beads/queries";
import { useCardActs } from "../beads/useBeadActs";
import { useForeign } from "../beads/useForeign";
import { useRevertItem } from "../landing/revert";
import styles from "./Board.module.css";
import { type Lane, onBoard, ranksAt, sumOf } from "./board";
import { ColumnHead } from "./ColumnHead";
import { Ghost } from "./Ghost";
import { Lanes } from "./Lanes";
import { type Arrow, arrowOf, cardTo, find, type Place } from "./steps";
import { useAgentLimit } from "./useAgentLimit";
import { type Drag, useBoardDrag } from "./useBoardDrag";
import { useCalmLanes } from "./useCalmLanes";
import { useFolds } from "./useFolds";
import { usePast } from "./usePast";

interface BoardProps {
  lanes: readonly Lane[];
  /** All beads on the board; one may be in several lanes. */
  beads: readonly Bead[];
  graph: BeadGraph;
  project: string | undefined;
  peeked: string | undefined;
  onPeek: (id: string) => void;
}

const NONE: ReadonlySet<string> = new Set();

/** The beads as cards in columns, in lanes below each other; a letter in the filter alone draws none of it. */
export const Board = memo(function Board(props: BoardProps) {
  const { lanes: newest, beads, graph, project, peeked, onPeek } = props;
  const box = useRef<HTMLDivElement>(null);
  const { lanes, waiting, show } = useCalmLanes(newest, box);
  const folds = useFolds(lanes);
  const [cursor, setCursor] = useState<Place>();
  const [selected, setSelected] = useState(NONE);
  const move = useMoveBeads();
  const refusedOf = useMoveRefusal();
  const past = usePast(project, graph, lanes);
  const put = (drag: Drag, lane: Lane) => {
    const { status, index } = drag.spot;
    const ranks = status === "done" ? new Map() : ranksAt(lane.cells[status], drag.cards, index);
    move.mutate({ beads: drag.cards, status, ranks });
    setSelected(NONE);
  };
  const dragging = useBoardDrag({ lanes, selected, refusedOf, onDrop: put });
  const toggle = (id: string) => setSelected((before) => toggled(before, id));
  // These stay the same, so that a card is drawn again only if something of it is another.
  const press = useLatest(dragging.press);
  const open = useLatest((bead: Bead, withOthers: boolean) => {
    if (!dragging.isClick()) return;
    if (withOthers) toggle(bead.id);
    else onPeek(bead.id);
  });
  const menu = useCardMenu(graph);
  const focus = useBoardFocus(box, cursor);
  const go = (arrow: Arrow) => {
    // No card of a folded lane is there to go to; to step over thousands of them takes long.
    const within = lanes.filter((lane) => lane.id === cursor?.lane || !folds.isFolded(lane));
    const to = firstThatTakes(within, cursor, arrow, focus);
    if (to) setCursor(to);
  };
  useBoardActions({ lanes, cursor, go, toggle, onPeek });
  const stop = find(lanes, cursor) ? cursor : cardTo(lanes, undefined, "down");
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the cards inside
    <div
      ref={box}
      className={styles.board}
      onKeyDown={(event) => onCardKey(event, cursor, dragging, go)}
      // Letting go of Space would press the card.
      onKeyUp={(event) => event.key === " " && isCardTitle(event.target) && event.preventDefault()}
    >
      <Told said={dragging.said} />
      <Heads graph={graph} beads={beads} />
      <NewRows waiting={waiting} noun="card" onShow={show} />
      <Lanes
        lanes={lanes}
        folds={folds}
        graph={graph}
        past={past}
        project={project}
        drag={dragging.drag}
        selected={selected}
        peeked={peeked}
        stop={stop}
        menuOf={menu}
        onPress={press}
        onFocus={setCursor}
        onOpen={open}
      />
      {dragging.drag?.point && <Ghost drag={dragging.drag} />}
      {selected.size > 0 && (
        <BeadBar
          beads={beads.filter(({ id }) => selected.has(id))}
          onClear={() => setSelected(NONE)}
        />
      )}
    </div>
  );
});

/** The next card that takes the focus: those of a folded lane, or further down than a cell shows, cannot. */
function firstThatTakes(
  lanes: readonly Lane[],
  from: Place | undefined,
  arrow: Arrow,
  focus: (place: Place) => boolean,
): Place | undefined {
  let at = from;
  for (let to = cardTo(lanes, at, arrow); to && !isSame(to, at); to = cardTo(lanes, at, arrow)) {
    at = to;
    if (focus(to)) return to;
  }
  return undefined;
}

/** Makes the lines of the menu of a card when it is opened; one for all cards. */
function useCardMenu(graph: BeadGraph) {
  const { statusItems } = useCardActs();
  const start = useStartItem(graph);
  const revert = useRevertItem();
  return useLatest((bead: Bead) => {
    const moves = [...statusItems([bead]), start(bead)];
    return bead.status === "done" ? [...moves, { ...revert(bead), group: "" }] : moves;
  });
}

/** Why cards may not be moved. */
function useMoveRefusal() {
  const refused = useRefusal(MAY_CHANGE);
  const foreign = useForeign();
  return (cards: readonly Bead[]) => refused ?? foreign(cards);
}

/** What a screen reader is told: how cards are moved, and what happens to them. */
function Told({ said }: { said: string }) {
  return (
    <>
      <p id="board-help" className="visually-hidden">
        Enter opens the bead. Space lifts the card; then arrow keys move it, Space drops it and
        Escape cancels.
      </p>
      <p className="visually-hidden" role="status" aria-live="assertive" data-board-said>
        {said}
      </p>
    </>
  );
}

/** The heads of the columns, with their sums and limits. */
function Heads({ beads, graph }: { beads: readonly Bead[]; graph: BeadGraph }) {
  const [limits, setLimits] = useStored<Partial<Record<BeadStatus, number>>>("board.limits", {});
  const { data: costs } = useQuery(beadQueries.costs());
  const atWork = useAgentLimit();
  const sums = useMemo(
    () => STATUSES.map((status) => [status, sumOf(inColumn(beads, status), costs)] as const),
    [beads, costs],
  );
  const totals = useMemo(() => {
    const all = onBoard([...graph.byId.values()], false);
    return new Map(STATUSES.map((status) => [status, inColumn(all, status).length] as const));
  }, [graph]);
  return (
    <div className={styles.heads}>
      {sums.map(([status, sum]) => (
        <ColumnHead
          key={status}
          status={status}
          sum={sum}
          total={Math.max(totals.get(status) ?? 0, sum.count)}
          limit={limits[status]}
          onLimit={(limit) => setLimits(withLimit(limits, status, limit))}
          held={status === "in-progress" ? atWork : undefined}
        />
      ))}
    </div>
  );
}

/** The keys of the card that has the focus. */
function onCardKey(
  event: KeyboardEvent,
  cursor: Place | undefined,
  dragging: ReturnType<typeof useBoardDrag>,
  go: (arrow: Arrow) => void,
): void {
  if (!cursor || !isCardTitle(event.target) || event.metaKey || event.ctrlKey || event.altKey)
    return;
  const arrow = arrowOf(event.key);
  const { drag } = dragging;
  if (event.key === " ") drag ? dragging.drop() : dragging.lift(cursor);
  else if (event.key === "Escape" && drag) dragging.cancel();
  else if (arrow && drag) dragging.step(arrow);
  else if (arrow) go(arrow);
  else if (event.key !== "Enter" || !drag) return;
  else dragging.drop();
  event.preventDefault();
}

/** The keys of the board that work wherever the focus is. */
function useBoardActions({
  lanes,
  cursor,
  go,
  toggle,
  onPeek,
}: {
  lanes: readonly Lane[];
  cursor: Place | undefined;
  go: (arrow: Arrow) => void;
  toggle: (id: string) => void;
  onPeek: (id: string) => void;
}) {
  const { assignToMe, assignCli } = useCardActs();
  const at = find(lanes, cursor);
  const here = at && lanes[at.lane]?.cells[at.status][at.index];
  const when = here !== undefined;
  useAction(LIST.down, () => go("down"));
  useAction(LIST.up, () => go("up"));
  useAction(LIST.select, () => here && toggle(here.id), { when });
  useAction(LIST.open, () => here && onPeek(here.id), { when });
  useAction(BEAD.assign, () => here && assignToMe([here]), {
    title: here && `Assign ${here.id} to me`,
    cli: here && assignCli(here),
    when,
  });
}

const TITLE = "[aria-describedby='board-help']";

function isCardTitle(target: EventTarget): boolean {
  return (target as Element).matches(TITLE);
}

/** Keeps the focus on a card that comes to stand elsewhere. */
function useBoardFocus(box: React.RefObject<HTMLElement | null>, cursor: Place | undefined) {
  const focus = ({ lane, id }: Place) => {
    const place = `[data-lane="${CSS.escape(lane)}"] [data-card="${CSS.escape(id)}"] ${TITLE}`;
    const title = box.current?.querySelector<HTMLElement>(place);
    title?.focus();
    return title !== null && title !== undefined;
  };
  const wasInside = useRef(false);
  useEffect(() => {
    const listening = new AbortController();
    const remember = (event: Event) => {
      wasInside.current = (event.target as Element).closest("[data-card]") !== null;
    };
    for (const name of ["focusin", "pointerdown"]) {
      document.addEventListener(name, remember, { signal: listening.signal });
    }
    return () => listening.abort();
  }, []);
  useEffect(() => {
    if (cursor && wasInside.current && document.activeElement === document.body) focus(cursor);
  });
  return focus;
}

function isSame(a: Place, b: Place | undefined): boolean {
  return a.lane === b?.lane && a.id === b.id;
}

function inColumn(beads: readonly Bead[], status: BeadStatus): Bead[] {
  return beads.filter((bead) => bead.status === status);
}

function toggled(before: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const after = new Set(before);
  if (!after.delete(id)) after.add(id);
  return after;
}

function withLimit(
  limits: Partial<Record<BeadStatus, number>>,
  status: BeadStatus,
  limit: number | undefined,
) {
  const { [status]: _, ...others } = limits;
  return limit === undefined ? others : { ...others, [status]: limit };
}
