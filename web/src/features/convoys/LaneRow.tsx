import { useQuery } from "@tanstack/react-query";
import { Fragment, memo, type PointerEvent, useState } from "react";
import type { Bead } from "../../api/types";
import { Button } from "../../ui/Button";
import { classes } from "../../ui/classes";
import { plural } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import type { MenuItem } from "../../ui/Menu";
import { PartialBadge } from "../../ui/Status";
import { useLatest } from "../../ui/useLatest";
import type { BeadGraph } from "../beads/graph";
import { type BeadStatus, STATUS_LOOKS, STATUSES } from "../beads/looks";
import { beadQueries, MOST_REVIEWS } from "../beads/queries";
import type { Coming } from "../beads/waiting";
import styles from "./Board.module.css";
import { CELL_PAGE, LANE_PAGE, type Lane } from "./board";
import { Card } from "./Card";
import { ConvoyFacts } from "./ConvoyFacts";
import { InlineCreate } from "./InlineCreate";
import type { Past } from "./past";
import { useConvoyBeads } from "./queries";
import type { Place } from "./steps";
import type { Drag } from "./useBoardDrag";
import { MAY_CHANGE_CONVOY, useForeignConvoy } from "./useConvoyItems";

export interface LaneRowProps {
  lane: Lane;
  /** Without lanes there is no head of one. */
  isAlone: boolean;
  /** Only its head is shown. */
  isClosed: boolean;
  onFold: () => void;
  graph: BeadGraph;
  /** How long finished beads took; `undefined` while that is read, `null` if it cannot be. */
  past: Past | null | undefined;
  project: string | undefined;
  drag: Drag | undefined;
  selected: ReadonlySet<string>;
  peeked: string | undefined;
  /** The card on which Tab stops. */
  stop: string | undefined;
  /** The lines of the menu of a card. */
  menuOf: (bead: Bead) => readonly MenuItem[];
  onPress: (event: PointerEvent, place: Place) => void;
  onOpen: (bead: Bead, withOthers: boolean) => void;
  onFocus: (place: Place) => void;
}

/** A lane: its head, and its cells in the four columns. */
export function LaneRow({ past, isClosed, onFold, ...props }: LaneRowProps) {
  const { lane, isAlone } = props;
  const total = STATUSES.reduce((sum, status) => sum + lane.cells[status].length, 0);
  return (
    <section className={styles.lane} aria-label={lane.title} data-lane={lane.id}>
      {!isAlone && (
        <header className={styles.laneHead}>
          <button
            type="button"
            className={styles.fold}
            aria-expanded={!isClosed}
            title={lane.convoy?.description ?? undefined}
            onClick={onFold}
          >
            <Icon name={isClosed ? "chevron" : "down"} size={13} />
            <span className={styles.laneTitle}>{lane.title}</span>
          </button>
          <span className={styles.soft}>{plural(total, "bead")}</span>
          {lane.convoy && <ConvoyFacts convoy={lane.convoy} graph={props.graph} past={past} />}
        </header>
      )}
      {!isClosed && (
        <div className={styles.cells}>
          {STATUSES.map((status) => (
            <Cell key={status} {...props} status={status} />
          ))}
        </div>
      )}
    </section>
  );
}

/** Of work in these columns the size and the checks are known. */
const COMING: readonly Coming[] = ["in-progress", "review"];

/** Work begins here; to a review or an end it comes by itself. */
const CREATED_IN: readonly BeadStatus[] = ["open", "in-progress"];

/** What the menu of a card offers: other columns, and in the lane of a convoy the way out of it. */
function useCardMenu(lane: Lane, movesOf: LaneRowProps["menuOf"]): LaneRowProps["menuOf"] {
  const change = useConvoyBeads();
  const foreign = useForeignConvoy();
  const { convoy } = lane;
  return useLatest((one: Bead): readonly MenuItem[] => {
    const moves = movesOf(one);
    if (!convoy) return moves;
    const takeOut: MenuItem = {
      id: "take-out",
      title: `Take out of ${convoy.name}`,
      icon: "cross",
      group: "",
      can: MAY_CHANGE_CONVOY,
      refused: foreign(convoy),
      cli: `godel convoy remove ${convoy.id} ${one.id}`,
      run: () => change.mutate({ convoy, beads: [one], isIn: false }),
    };
    return [...moves, takeOut];
  });
}

type CellProps = Omit<LaneRowProps, "past" | "isClosed" | "onFold"> & { status: BeadStatus };

/** The cards of a lane in one column; what the head of the lane says changes more often than they do. */
const Cell = memo(function Cell({ lane, status, graph, project, drag, ...rest }: CellProps) {
  const page = rest.isAlone ? CELL_PAGE : LANE_PAGE;
  const [shown, setShown] = useState(page);
  const coming = COMING.find((one) => one === status);
  const { data: reviews } = useQuery({
    ...beadQueries.reviews(project, coming),
    enabled: coming !== undefined,
  });
  const menuOf = useCardMenu(lane, rest.menuOf);
  const cards = lane.cells[status].slice(0, shown);
  const more = lane.cells[status].length - cards.length;
  const isTarget = drag?.spot.status === status;
  const isPart = coming && reviews?.isCut && cards.some(({ id }) => !reviews.rows[id]);
  let place = 0;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a field set would be a form
    <div
      className={classes(styles.cell, isTarget && styles.target)}
      data-cell={status}
      role="group"
      aria-label={`${lane.title}: ${STATUS_LOOKS[status].title}`}
    >
      {isPart && (
        <div>
          <PartialBadge
            kind="limited"
            why={`Only ${MOST_REVIEWS} changes are read: of the others, cards do not say how large the change is and what its checks say`}
          />
        </div>
      )}
      {cards.map((bead) => {
        const isMoving = drag?.moved.has(bead.id) ?? false;
        const hasLine = isTarget && !isMoving && place === drag.spot.index;
        if (!isMoving) place += 1;
        return (
          <Fragment key={bead.id}>
            {hasLine && <div className={styles.drop} />}
            <Card
              bead={bead}
              lane={lane.id}
              holds={graph.holdsOf(bead)}
              review={coming && reviews?.rows[bead.id]}
              menuOf={menuOf}
              isPeeked={rest.peeked === bead.id}
              isSelected={rest.selected.has(bead.id)}
              isMoving={isMoving}
              isStop={rest.stop === bead.id}
              onPress={rest.onPress}
              onOpen={rest.onOpen}
              onFocus={rest.onFocus}
            />
          </Fragment>
        );
      })}
      {isTarget && drag.spot.index >= place && <div className={styles.drop} />}
      {more > 0 && (
        <Button look="quiet" size="small" onClick={() => setShown(shown + CELL_PAGE)}>
          Show {Math.min(more, CELL_PAGE)} of {more} more
        </Button>
      )}
      {CREATED_IN.includes(status) && (
        <InlineCreate lane={lane} status={status} project={project} />
      )}
    </div>
  );
});
