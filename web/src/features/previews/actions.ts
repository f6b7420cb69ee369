import { defineAction } from "../../actions/actions";

/** What one must be allowed to start and stop previews; those of others need `agent:execute:team`. */
export const MAY_PREVIEW = "agent:execute:own";

/** What can be done with the app of the agent or the bead that is open. */
export const PREVIEW = {
  start: defineAction({
    id: "previews.start",
    scope: "agents",
    title: "Preview the app",
    icon: "play",
    can: MAY_PREVIEW,
  }),
  stop: defineAction({
    id: "previews.stop",
    scope: "agents",
    title: "Stop the preview",
    icon: "stop",
    can: MAY_PREVIEW,
  }),
};
