import type { Bead } from "../../api/types";
import { useForeignRefusal, useSession } from "../../roles/session";

/** Tells why beads cannot be changed or deleted: some may do that only to what they made or work on. */
export function useForeign(
  action: "update" | "delete" = "update",
): (beads: readonly Bead[]) => string | undefined {
  const { actor } = useSession();
  const refusedOf = useForeignRefusal(`bead:${action}:team`);
  return (beads) => {
    const foreign = beads.find(({ createdBy, agent }) => createdBy !== actor && agent !== actor);
    return foreign && refusedOf({ name: foreign.id, isOwn: false });
  };
}
