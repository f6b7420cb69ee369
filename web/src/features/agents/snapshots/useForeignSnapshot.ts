import type { AgentSnapshot } from "../../../api/types";
import { useForeignRefusal, useSession } from "../../../roles/session";

/** Tells why a snapshot cannot be taken away or forgotten: some may do that only to those of their own agents. */
export function useForeignSnapshot(): (snapshot: AgentSnapshot) => string | undefined {
  const session = useSession();
  const refusedOf = useForeignRefusal("agent:execute:team");
  // One of old does not say whose it is, so nobody can be sure that it is theirs.
  return ({ agent, userId }) =>
    refusedOf({ name: `The snapshot of ${agent}`, isOwn: userId === session.userId });
}
