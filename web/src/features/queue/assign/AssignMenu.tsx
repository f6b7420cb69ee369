import type { Task } from "../../../api/types";
import { Menu } from "../../../ui/Menu";
import { useAssignItems } from "./useAssignItems";

/** Lets one worker alone do tasks that wait. */
export function AssignMenu({ tasks }: { tasks: readonly Task[] }) {
  const itemsFor = useAssignItems();
  return (
    <Menu
      label="Assign to a worker"
      button="Assign"
      look="line"
      size="small"
      align="left"
      items={() => itemsFor(tasks)}
    />
  );
}
