import { defineAction } from "../../actions/actions";

/** What can be done with the agent under the cursor, or with those that are selected. */
export const AGENT = {
  pause: defineAction({
    id: "agents.pause",
    scope: "agents",
    title: "Pause",
    keys: ["p"],
    icon: "pause",
    can: "agent:execute:own",
  }),
  resume: defineAction({
    id: "agents.resume",
    scope: "agents",
    title: "Resume",
    keys: ["r"],
    icon: "play",
    can: "agent:execute:own",
  }),
  kill: defineAction({
    id: "agents.kill",
    scope: "agents",
    title: "End",
    keys: ["shift+k"],
    icon: "stop",
    can: "agent:execute:own",
    destructive: true,
  }),
  look: defineAction({
    id: "agents.look",
    scope: "agents",
    title: "Cards or table",
    keys: ["v"],
    icon: "grid",
  }),
} as const;
