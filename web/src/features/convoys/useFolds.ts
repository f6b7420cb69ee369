import { useCallback, useEffect, useMemo, useRef } from "react";
import { useStored } from "../../ui/useStored";
import { type Lane, OPEN_LANES } from "./board";

/** So many choices are remembered, the newest: lanes come and go, and nobody tidies up after them. */
const FOLDS_MOST = 500;

export interface Folds {
  isFolded: (lane: Pick<Lane, "id">) => boolean;
  toggle: (lane: Pick<Lane, "id">) => void;
}

/**
 * Which lanes are folded. This browser remembers what somebody folded or unfolded; others are as they
 * were when they came: nothing folds under a reader because it is over, or because others came before it.
 */
export function useFolds(lanes: readonly Lane[]): Folds {
  const [byHand, setByHand] = useStored<Readonly<Record<string, boolean>>>("board.folds", {});
  const before = useRef<ReadonlyMap<string, boolean>>(new Map());
  const atFirst = useMemo(
    () =>
      new Map(
        lanes.map(
          (lane, at) => [lane.id, before.current.get(lane.id) ?? isQuiet(lane, at)] as const,
        ),
      ),
    [lanes],
  );
  useEffect(() => {
    before.current = atFirst;
  }, [atFirst]);
  const isFolded = useCallback<Folds["isFolded"]>(
    ({ id }) => byHand[id] ?? atFirst.get(id) ?? false,
    [byHand, atFirst],
  );
  const toggle: Folds["toggle"] = (lane) => {
    const { [lane.id]: _, ...others } = byHand;
    const kept = Object.entries(others).slice(1 - FOLDS_MOST);
    setByHand(Object.fromEntries([...kept, [lane.id, !isFolded(lane)]]));
  };
  return { isFolded, toggle };
}

/** It is over, or comes after many others. */
function isQuiet({ convoy }: Lane, at: number): boolean {
  return at >= OPEN_LANES || (convoy !== undefined && convoy.status !== "active");
}
