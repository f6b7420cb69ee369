import { useCallback } from "react";
import { FlowList } from "../../ui/table/FlowList";
import type { Lane } from "./board";
import { LaneRow, type LaneRowProps } from "./LaneRow";
import type { Place } from "./steps";
import type { Drag } from "./useBoardDrag";
import type { Folds } from "./useFolds";

/** What all lanes are told alike. */
type Shared = Omit<LaneRowProps, "lane" | "isAlone" | "isClosed" | "onFold" | "drag" | "stop">;

interface LanesProps extends Shared {
  lanes: readonly Lane[];
  folds: Folds;
  drag: Drag | undefined;
  /** The card on which Tab stops. */
  stop: Place | undefined;
}

const keyOf = (lane: Lane) => lane.id;
/** The head of a lane and the room above it; one that is open is always drawn, and measured. */
const HEAD_PX = 46;
const heightOf = () => HEAD_PX;

/**
 * The lanes below each other. With a thousand agents nearly all are folded, and of those only the ones in
 * view are drawn. The few that are open stay: keys lead to their cards, and drags end in them.
 */
export function Lanes({ lanes, folds, drag, stop, ...shared }: LanesProps) {
  const { isFolded, toggle } = folds;
  const isOpen = useCallback((lane: Lane) => !isFolded(lane), [isFolded]);
  return (
    <FlowList
      label="Lanes"
      rows={lanes}
      keyOf={keyOf}
      heightOf={heightOf}
      isKept={isOpen}
      draw={(lane) => (
        <LaneRow
          {...shared}
          lane={lane}
          isAlone={lanes.length === 1 && lane.id === "all"}
          isClosed={isFolded(lane)}
          onFold={() => toggle(lane)}
          drag={drag?.place.lane === lane.id ? drag : undefined}
          stop={stop?.lane === lane.id ? stop.id : undefined}
        />
      )}
    />
  );
}
