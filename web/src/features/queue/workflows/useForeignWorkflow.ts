import type { Workflow } from "../../../api/types";
import { useForeignRefusal, useSession } from "../../../roles/session";

/** Tells why a stored workflow cannot be changed: some may change only those that they made. */
export function useForeignWorkflow(): (workflow: Workflow) => string | undefined {
  const { userId } = useSession();
  const refusedOf = useForeignRefusal("workflow:update:team");
  return ({ name, createdBy }) =>
    refusedOf({ name: `The workflow ${name}`, isOwn: createdBy === userId });
}
