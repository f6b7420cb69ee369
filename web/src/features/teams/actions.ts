import { type ActionSpec, defineAction } from "../../actions/actions";

const LEAD = { scope: "teams", can: "team:execute:team" } as const;

/** What can be done with the team under the cursor. */
export const TEAM = {
  start: defineAction({ ...LEAD, id: "teams.start", title: "Start", keys: ["s"], icon: "play" }),
  pause: defineAction({ ...LEAD, id: "teams.pause", title: "Pause", keys: ["p"], icon: "pause" }),
  resume: defineAction({ ...LEAD, id: "teams.resume", title: "Resume", keys: ["r"], icon: "play" }),
  complete: defineAction({
    ...LEAD,
    id: "teams.complete",
    title: "Complete",
    keys: ["shift+c"],
    icon: "check",
    destructive: true,
  }),
  cancel: defineAction({
    ...LEAD,
    id: "teams.cancel",
    title: "Cancel",
    keys: ["shift+k"],
    icon: "stop",
    destructive: true,
  }),
  update: defineAction({
    ...LEAD,
    id: "teams.update",
    title: "Change",
    keys: ["e"],
    icon: "edit",
    can: "team:update:team",
  }),
  delete: defineAction({
    ...LEAD,
    id: "teams.delete",
    title: "Delete",
    keys: ["shift+d"],
    icon: "trash",
    can: "team:delete:team",
    destructive: true,
  }),
} as const satisfies Record<string, ActionSpec>;

/** Something that is done with a team. */
export type TeamAct = keyof typeof TEAM;

/** All of them, in the order of menus. */
export const TEAM_ACTS = Object.keys(TEAM) as readonly TeamAct[];
