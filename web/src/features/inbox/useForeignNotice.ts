import type { Notice } from "../../api/types";
import { useNotAsked } from "../../roles/asked";
import { useForeignRefusal, useSession } from "../../roles/session";
import { needsVerdict } from "./kinds";

/** Tells why a notice cannot be answered: it is of an agent of somebody else, or a gate asks others. */
export function useForeignNotice(): (notice: Notice) => string | undefined {
  const session = useSession();
  const refusedOf = useForeignRefusal("agent:execute:team");
  const notAsked = useNotAsked();
  return (notice) => {
    if (needsVerdict(notice)) return notAsked(notice.by);
    // What is no agent's is for all, and so is what an agent left behind that is gone; `rightFor` says what that takes.
    if (!notice.userId) return undefined;
    const name = notice.agent ?? "This agent";
    return refusedOf({ name, isOwn: notice.userId === session.userId });
  };
}
