import { defineAction } from "../../actions/actions";

/** Who may let everything stand still, and go on. */
export const MAY_STOP = "agent:execute:team";

/** The emergency stop, from anywhere; without a key, so that nobody presses it by mistake. */
export const ESTOP = {
  stop: defineAction({
    id: "shell.estop",
    scope: "global",
    title: "Stop everything",
    icon: "stop",
    can: MAY_STOP,
    destructive: true,
  }),
  resume: defineAction({
    id: "shell.resume",
    scope: "global",
    title: "Let everything go on",
    icon: "play",
    can: MAY_STOP,
  }),
} as const;
