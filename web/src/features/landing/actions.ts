import { defineAction } from "../../actions/actions";

/** What can be done with the entry under the cursor, and with the queue. */
export const LANDING = {
  pause: defineAction({
    id: "landing.pause",
    scope: "landing",
    title: "Pause or resume the queue",
    keys: ["p"],
    icon: "pause",
    can: "review:update:team",
  }),
  retry: defineAction({
    id: "landing.retry",
    scope: "landing",
    title: "Retry",
    keys: ["r"],
    icon: "refresh",
    can: "review:update:own",
  }),
  remove: defineAction({
    id: "landing.remove",
    scope: "landing",
    title: "Remove from the queue",
    keys: ["d"],
    icon: "cross",
    can: "review:update:own",
    destructive: true,
  }),
  revert: defineAction({
    id: "landing.revert",
    scope: "landing",
    title: "Revert",
    keys: ["shift+r"],
    icon: "trash",
    can: "review:update:own",
    destructive: true,
  }),
} as const;
