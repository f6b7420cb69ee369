import { defineAction } from "../../actions/actions";

/** What can be done with the task under the cursor. */
export const TASK = {
  retry: defineAction({
    id: "queue.retry",
    scope: "queue",
    title: "Retry",
    keys: ["r"],
    icon: "refresh",
    can: "task:update:own",
  }),
  cancel: defineAction({
    id: "queue.cancel",
    scope: "queue",
    title: "Cancel",
    keys: ["shift+k"],
    icon: "stop",
    can: "task:update:own",
    destructive: true,
  }),
} as const;
