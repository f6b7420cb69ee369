import type { Agent } from "../../api/types";
import { useForeignRefusal, useSession } from "../../roles/session";

/** Tells why an agent cannot be led: some may lead only those that work for them. */
export function useForeignAgent(): (agent: Pick<Agent, "label" | "userId">) => string | undefined {
  const session = useSession();
  const refusedOf = useForeignRefusal("agent:execute:team");
  return ({ label, userId }) => refusedOf({ name: label, isOwn: userId === session.userId });
}
