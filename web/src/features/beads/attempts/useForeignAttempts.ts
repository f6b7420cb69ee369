import type { Attempts } from "../../../api/types";
import { useForeignRefusal, useSession } from "../../../roles/session";

/** Tells why nothing can be decided about attempts: some may do that only about those that they asked for. */
export function useForeignAttempts(): (found: Attempts) => string | undefined {
  const session = useSession();
  const refusedOf = useForeignRefusal("agent:execute:team");
  return ({ bead, userId }) =>
    refusedOf({ name: `The choice for ${bead}`, isOwn: userId === session.userId });
}
