import { type ActionSpec, defineAction } from "../../actions/actions";

const LEAD = { scope: "agents", can: "agent:execute:own" } as const;

/** What can be done with the agent under the cursor, or with those that are selected. */
export const AGENT = {
  message: defineAction({
    ...LEAD,
    id: "agents.message",
    title: "Message",
    keys: ["m"],
    icon: "message",
  }),
  pause: defineAction({
    ...LEAD,
    id: "agents.pause",
    title: "Pause",
    keys: ["p"],
    icon: "pause",
  }),
  resume: defineAction({
    ...LEAD,
    id: "agents.resume",
    title: "Resume",
    keys: ["r"],
    icon: "play",
  }),
  takeover: defineAction({
    ...LEAD,
    id: "agents.takeover",
    title: "Take over",
    keys: ["shift+t"],
    icon: "terminal",
  }),
  restart: defineAction({
    ...LEAD,
    id: "agents.restart",
    title: "Restart",
    keys: ["shift+r"],
    icon: "refresh",
    destructive: true,
  }),
  snapshot: defineAction({
    ...LEAD,
    id: "agents.snapshot",
    title: "Snapshot",
    keys: ["s"],
    icon: "camera",
  }),
  fork: defineAction({
    ...LEAD,
    id: "agents.fork",
    title: "Fork",
    keys: ["f"],
    icon: "fork",
  }),
  kill: defineAction({
    ...LEAD,
    id: "agents.kill",
    title: "End",
    keys: ["shift+k"],
    icon: "stop",
    destructive: true,
  }),
} as const satisfies Record<string, ActionSpec>;

/** Forgets one that has ended. */
export const DELETE = defineAction({
  id: "agents.delete",
  scope: "agents",
  title: "Delete",
  icon: "trash",
  can: "agent:delete:own",
  destructive: true,
});

/** What was kept of agents. */
export const KEPT = {
  snapshots: defineAction({
    id: "agents.snapshots",
    scope: "agents",
    title: "All snapshots",
    icon: "camera",
    can: "agent:read:team",
  }),
  import: defineAction({
    id: "agents.import",
    scope: "agents",
    title: "Import a snapshot",
    icon: "up",
    can: "agent:create:own",
  }),
  sessions: defineAction({
    id: "agents.sessions",
    scope: "agents",
    title: "All sessions",
    icon: "message",
    can: "session:read:team",
  }),
  letters: defineAction({
    id: "agents.letters",
    scope: "agents",
    title: "Letters to you",
    icon: "inbox",
    can: "agent:read:team",
  }),
  worktrees: defineAction({
    id: "agents.worktrees",
    scope: "agents",
    title: "All worktrees",
    icon: "branch",
    can: "agent:read:team",
  }),
} as const satisfies Record<string, ActionSpec>;

/** Cards or rows. */
export const LOOK = defineAction({
  id: "agents.look",
  scope: "agents",
  title: "Cards or table",
  keys: ["v"],
  icon: "grid",
});

/** The shell of an agent has one who types. */
export const CONTROL = defineAction({
  ...LEAD,
  id: "agents.control",
  title: "Take control",
  keys: ["t"],
  icon: "edit",
});
