import type { Bead } from "../../api/types";
import { useRefusal, useSession } from "../../roles/session";

/** Tells why beads cannot be changed or deleted: some may do that only to what they made or work on. */
export function useForeign(
  action: "update" | "delete" = "update",
): (beads: readonly Bead[]) => string | undefined {
  const { actor } = useSession();
  const refused = useRefusal(`bead:${action}:team`);
  return (beads) => {
    if (refused === undefined) return undefined;
    const foreign = beads.find(({ createdBy, agent }) => createdBy !== actor && agent !== actor);
    return foreign && `${foreign.id} is not yours: ${refused}`;
  };
}
