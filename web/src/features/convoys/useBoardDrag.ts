import { type PointerEvent, useCallback, useEffect, useEffectEvent, useRef, useState } from "react";
import type { Bead } from "../../api/types";
import { type BeadStatus, STATUS_LOOKS, STATUSES } from "../beads/looks";
import type { Lane, Spot } from "./board";
import { type Arrow, find, type Place, roomIn, spotTo } from "./steps";

/** Cards that are on their way. */
export interface Drag {
  by: "pointer" | "keys";
  place: Place;
  cards: readonly Bead[];
  moved: ReadonlySet<string>;
  start: Spot;
  spot: Spot;
  /** Where the pointer is. */
  point?: { x: number; y: number };
}

/** A press that moves less than this is a click. */
const SLACK_PX = 5;

interface DragOptions {
  lanes: readonly Lane[];
  selected: ReadonlySet<string>;
  /** Why cards may not be moved. */
  refusedOf: (cards: readonly Bead[]) => string | undefined;
  onDrop: (drag: Drag, lane: Lane) => void;
}

/** Lifts, moves and drops cards by pointer and by keys; says what happens for a screen reader. */
export function useBoardDrag({ lanes, selected, refusedOf, onDrop }: DragOptions) {
  const [drag, setDrag] = useState<Drag>();
  const [said, say] = useState("");
  const laneOf = (id: string) => lanes.find((lane) => lane.id === id);
  const begin = (place: Place, by: Drag["by"]) => dragOf(lanes, selected, place, by);
  const lift = (place: Place) => {
    const next = begin(place, "keys");
    if (!next) return;
    const refused = refusedOf(next.cards);
    if (refused) return say(refused);
    setDrag(next);
    say(`Lifted ${nameOf(next)}. ${where(laneOf(place.lane), next)} ${HELP}`);
  };
  const step = (arrow: Arrow) => {
    const lane = drag && laneOf(drag.place.lane);
    if (!drag || !lane) return;
    const next = { ...drag, spot: spotTo(lane, drag.spot, arrow, drag.moved) };
    setDrag(next);
    say(where(lane, next));
  };
  const drop = () => {
    const lane = drag && laneOf(drag.place.lane);
    setDrag(undefined);
    if (!drag || !lane) return;
    const { start, spot } = drag;
    if (start.status === spot.status && start.index === spot.index && drag.cards.length === 1) {
      return say(`Dropped ${nameOf(drag)} where it was.`);
    }
    say(`Dropped ${nameOf(drag)}. ${where(lane, drag)}`);
    onDrop(drag, lane);
  };
  const cancel = () => {
    if (drag) say(`Cancelled. ${nameOf(drag)} stays where it was.`);
    setDrag(undefined);
  };
  const pull = (place: Place) => {
    const next = begin(place, "pointer");
    return next && refusedOf(next.cards) === undefined ? next : undefined;
  };
  const pointer = usePointer({ drag, setDrag, pull, drop, cancel });
  return { drag, said, ...pointer, lift, step, drop, cancel };
}

/** The cards that go along when one is lifted: it alone, or all that are selected with it. */
function dragOf(
  lanes: readonly Lane[],
  selected: ReadonlySet<string>,
  place: Place,
  by: Drag["by"],
): Drag | undefined {
  const at = find(lanes, place);
  const lane = lanes.find(({ id }) => id === place.lane);
  const card = at && lane?.cells[at.status][at.index];
  if (!card || !lane) return undefined;
  const all = lanes.flatMap((one) => STATUSES.flatMap((status) => one.cells[status]));
  const chosen = new Map(all.filter(({ id }) => selected.has(id)).map((one) => [one.id, one]));
  const cards = selected.has(card.id) ? [...chosen.values()] : [card];
  const moved = new Set(cards.map(({ id }) => id));
  const before = lane.cells[at.status].slice(0, at.index).filter(({ id }) => !moved.has(id));
  const index = Math.min(before.length, roomIn(lane, at.status, moved));
  const spot = { lane: lane.id, status: at.status, index };
  return { by, place, cards, moved, start: spot, spot };
}

interface PointerOptions {
  drag: Drag | undefined;
  setDrag: (drag: Drag) => void;
  /** What is dragged from a place, unless it may not be. */
  pull: (place: Place) => Drag | undefined;
  drop: () => void;
  cancel: () => void;
}

/** The pointer presses, pulls and lets go; what hardly moved is a click. */
function usePointer({ drag, setDrag, pull, drop, cancel }: PointerOptions) {
  const pressed = useRef<{ place: Place; x: number; y: number }>(undefined);
  const dragged = useRef(false);
  const onMove = useEffectEvent((event: globalThis.PointerEvent) => {
    const press = pressed.current;
    const point = { x: event.clientX, y: event.clientY };
    if (drag) return setDrag({ ...drag, point, spot: spotUnder(drag, point) ?? drag.spot });
    const way = press ? Math.hypot(point.x - press.x, point.y - press.y) : 0;
    const next = press && way > SLACK_PX ? pull(press.place) : undefined;
    if (next) setDrag({ ...next, point });
  });
  const onUp = useEffectEvent(() => {
    pressed.current = undefined;
    if (drag?.by !== "pointer") return;
    // The browser tells of a click after this; it was none.
    dragged.current = true;
    setTimeout(() => {
      dragged.current = false;
    });
    drop();
  });
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (drag?.by !== "pointer" || event.key !== "Escape") return;
    event.preventDefault();
    pressed.current = undefined;
    cancel();
  });
  useEffect(() => {
    const listening = new AbortController();
    const { signal } = listening;
    window.addEventListener("pointermove", (event) => onMove(event), { signal });
    window.addEventListener("pointerup", () => onUp(), { signal });
    window.addEventListener("pointercancel", () => onUp(), { signal });
    document.addEventListener("keydown", (event) => onKey(event), { signal, capture: true });
    return () => listening.abort();
  }, []);
  const press = useCallback((event: PointerEvent, place: Place) => {
    // A finger scrolls; it moves cards through their menu.
    if (event.button !== 0 || event.pointerType === "touch") return;
    const target = event.target as Element;
    // A menu lies over the page, but its events come through the card that opened it.
    if (target.closest("[data-no-drag]") || !event.currentTarget.contains(target)) return;
    pressed.current = { place, x: event.clientX, y: event.clientY };
  }, []);
  const isClick = useCallback(() => !dragged.current, []);
  return { press, isClick };
}

const HELP = "Arrow keys move it, Space drops it, Escape cancels.";

function nameOf({ cards }: Drag): string {
  return cards.length === 1 && cards[0] ? cards[0].title : `${cards.length} cards`;
}

function where(lane: Lane | undefined, { spot, moved }: Drag): string {
  const room = lane ? roomIn(lane, spot.status, moved) : 0;
  return `${STATUS_LOOKS[spot.status].title}, place ${spot.index + 1} of ${room + 1}.`;
}

/** The spot below the pointer: the column by its x, the place by its y; a card stays in its lane. */
function spotUnder(drag: Drag, { x, y }: { x: number; y: number }): Spot | undefined {
  const lane = document.querySelector(`[data-lane="${CSS.escape(drag.place.lane)}"]`);
  const cells = [...(lane?.querySelectorAll<HTMLElement>("[data-cell]") ?? [])];
  const cell = cells.findLast((one) => one.getBoundingClientRect().left <= x) ?? cells[0];
  const status = cell?.dataset.cell as BeadStatus | undefined;
  if (!cell || status === undefined) return undefined;
  const cards = [...cell.querySelectorAll<HTMLElement>("[data-card]")].filter(
    (card) => !drag.moved.has(card.dataset.card ?? ""),
  );
  const above = cards.filter((card) => {
    const { top, height } = card.getBoundingClientRect();
    return top + height / 2 < y;
  });
  return { lane: drag.place.lane, status, index: status === "done" ? 0 : above.length };
}
