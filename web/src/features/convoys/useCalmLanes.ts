import { type RefObject, useMemo } from "react";
import { useActing } from "../../change/useActing";
import { useCalm } from "../../ui/calm";
import { usePresence } from "../../ui/usePresence";
import { STATUSES } from "../beads/looks";
import { type Held, heldLanes, type Lane } from "./board";

const laneKey = (lane: Lane) => lane.id;
const cardKey = ({ lane, status, bead }: Held) => `${lane} ${status} ${bead.id}`;

/**
 * The lanes as the reader last saw them while somebody reads: each card with its newest content, in
 * the column where it was; what came or went to another column waits.
 */
export function useCalmLanes(newest: readonly Lane[], box: RefObject<HTMLElement | null>) {
  const isHere = usePresence(box);
  const isActing = useActing();
  const isBusy = isHere && !isActing;
  const cards = useMemo(
    () =>
      newest.flatMap(({ id, cells }) =>
        STATUSES.flatMap((status) => cells[status].map((bead) => ({ lane: id, status, bead }))),
      ),
    [newest],
  );
  const calmLanes = useCalm(newest, laneKey, isBusy);
  const calmCards = useCalm<Held>(cards, cardKey, isBusy);
  const isStill = calmLanes.rows !== newest || calmCards.rows !== cards;
  const lanes = useMemo(
    () => (isStill ? heldLanes(calmLanes.rows, calmCards.rows, cards) : newest),
    [isStill, calmLanes.rows, calmCards.rows, cards, newest],
  );
  const show = () => {
    calmLanes.show();
    calmCards.show();
  };
  return { lanes, waiting: calmCards.waiting, show };
}
