import { type UseQueryResult, useQueries, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Listing } from "../../api/list";
import type { Bead, Convoy } from "../../api/types";
import { useSoon } from "../../ui/useSoon";
import { beadQueries, useBeads } from "../beads/queries";
import { isSettled, type LaneKind, lanesOf, OPEN_LANES, onBoard } from "./board";
import { convoyQueries } from "./queries";

/** What the reader wants to see. */
interface Asked {
  projectId: string | undefined;
  /** The one convoy in the address. */
  only: string | undefined;
  text: string;
  lanes: LaneKind;
  hasDropped: boolean;
  hasArchived: boolean;
}

/** The beads and lanes of the board: of all convoys, or of one. */
export function useBoard({ projectId, only, text, hasDropped, hasArchived, ...view }: Asked) {
  const kind = only === undefined ? view.lanes : "convoy";
  const convoys = useQuery(convoyQueries.all(projectId));
  const wanted = useMemo(
    () =>
      (convoys.data?.items ?? []).filter(({ id, status }) =>
        only === undefined ? status !== "archived" || hasArchived : id === only,
      ),
    [convoys.data, only, hasArchived],
  );
  const early = useEarly(projectId, kind === "convoy" ? wanted : NONE);
  const { query, graph, beads } = useBeads(projectId, early);
  // What is typed shows at once; the board may follow a moment later.
  const asked = useSoon(text).toLowerCase();
  const shown = useMemo(() => {
    const found = onBoard(beads, hasDropped);
    if (asked === "") return found;
    return found.filter(({ id, title }) => `${id} ${title}`.toLowerCase().includes(asked));
  }, [beads, asked, hasDropped]);
  const lanes = useMemo(() => {
    const all = lanesOf(shown, kind, wanted);
    return only === undefined ? all : all.filter(({ id }) => id === only);
  }, [shown, kind, wanted, only]);
  const inside = useMemo(() => new Set(lanes.flatMap((lane) => lane.convoy?.beads ?? [])), [lanes]);
  const onPage = useMemo(
    () => (only === undefined ? shown : shown.filter(({ id }) => inside.has(id))),
    [only, shown, inside],
  );
  const board = together(query, kind === "convoy" ? convoys : undefined, () =>
    isSettled(lanes, graph.byId),
  );
  return { query, convoys, graph, board, shown, wanted, lanes, onPage };
}

const NONE: readonly never[] = [];

/** The beads of the lanes in sight, asked for by themselves if it takes long until all beads are here. */
function useEarly(projectId: string | undefined, convoys: readonly Convoy[]): readonly Bead[] {
  const { data: isPart } = useQuery({ ...beadQueries.all(projectId), select: isPartOf });
  const first = isPart ? convoys.slice(0, OPEN_LANES) : NONE;
  return useQueries({ queries: first.map(beadQueries.inConvoy), combine: itemsOf });
}

const isPartOf = ({ isPart }: Listing<Bead>) => isPart === true;

const itemsOf = (answers: readonly { data?: Listing<Bead> | undefined }[]): readonly Bead[] =>
  answers.flatMap(({ data }) => data?.items ?? []);

type Answer<T> = Pick<UseQueryResult<T>, "data" | "error" | "refetch" | "isFetching">;

/**
 * Beads and convoys as one answer. Beads without their convoys would stand in one lane and be torn apart a moment
 * later, and so would a board of the first beads; `hasSettled` tells whether the rest moves nothing any more.
 */
function together(
  beads: Answer<Listing<Bead>>,
  convoys: Answer<Listing<Convoy>> | undefined,
  hasSettled: () => boolean,
): Answer<Listing<Bead>> {
  const isReady = !convoys || convoys.data !== undefined;
  const isShown = isReady && (!beads.data?.isPart || hasSettled());
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
