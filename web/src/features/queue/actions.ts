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

/** Cancels with a word for those who come later. */
export const CANCEL_WHY = defineAction({
  id: "queue.cancel-why",
  scope: "queue",
  title: "Say why and cancel",
  icon: "stop",
  can: "task:update:own",
  destructive: true,
});

/** Makes what makes tasks by the clock. */
export const NEW_SCHEDULE = defineAction({
  id: "queue.schedule",
  scope: "queue",
  title: "New schedule",
  icon: "clock",
  can: "task:create:team",
});

/** Makes many tasks of a text or a file. */
export const NEW_BATCH = defineAction({
  id: "queue.batch",
  scope: "queue",
  title: "Many tasks",
  icon: "queue",
  can: "task:create:own",
});

/** What can be done with the worker under the cursor. */
export const WORKER = {
  pause: defineAction({
    id: "queue.worker-pause",
    scope: "queue",
    title: "Pause",
    keys: ["p"],
    icon: "pause",
    can: "task:execute:team",
  }),
  resume: defineAction({
    id: "queue.worker-resume",
    scope: "queue",
    title: "Resume",
    keys: ["shift+p"],
    icon: "play",
    can: "task:execute:team",
  }),
  remove: defineAction({
    id: "queue.worker-remove",
    scope: "queue",
    title: "Remove",
    icon: "trash",
    can: "task:execute:team",
    destructive: true,
  }),
} as const;
