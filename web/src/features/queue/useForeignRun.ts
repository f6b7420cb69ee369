import type { RunRow } from "../../api/types";
import { useForeignRefusal, useSession } from "../../roles/session";

/** Tells why a run cannot be led: some may lead only those that they started. */
export function useForeignRun(): (run: RunRow) => string | undefined {
  const { userId } = useSession();
  const refusedOf = useForeignRefusal("workflow:execute:team");
  return ({ name, createdBy }) =>
    refusedOf({ name: `This run of ${name}`, isOwn: createdBy === userId });
}
