import { useQuery } from "@tanstack/react-query";
import type { Landing } from "../../api/types";
import { useCan } from "../../roles/session";
import { beadQueries } from "../beads/queries";
import { useForeign } from "../beads/useForeign";
import { useProject } from "../projects/queries";
import type { Verb } from "./stages";

/**
 * Tells why something cannot be done to an entry for whose bead it is. What is taken back opens its bead again, and
 * some may move only their own; an entry does not say whose its bead is, so those who need it read the beads.
 */
export function useForeignLanding(): (verb: Verb, landing: Landing) => string | undefined {
  const foreign = useForeign();
  const isAll = useCan("bead:update:team");
  const shown = useProject();
  const { data } = useQuery({ ...beadQueries.all(shown.projectId), enabled: !isAll });
  return (verb, { bead, projectId }) => {
    if (verb !== "revert" || isAll) return undefined;
    const found = data?.items.find((one) => one.id === bead && one.projectId === projectId);
    return found ? foreign([found]) : `It is not known yet whose bead ${bead} is.`;
  };
}
