import { defineAction } from "../../actions/actions";

/** What can be done with the bead under the cursor or in the panel; both pages share it. */
export const BEAD = {
  assign: defineAction({
    id: "beads.assign",
    scope: "beads",
    title: "Assign to me",
    keys: ["a"],
    icon: "person",
    can: "bead:update:own",
  }),
  edit: defineAction({
    id: "beads.edit",
    scope: "beads",
    title: "Edit the title",
    keys: ["e"],
    icon: "edit",
    can: "bead:update:own",
  }),
  claim: defineAction({
    id: "beads.claim",
    scope: "beads",
    title: "Claim",
    icon: "hand",
    can: "bead:execute:own",
  }),
  defer: defineAction({
    id: "beads.defer",
    scope: "beads",
    title: "Put off",
    icon: "clock",
    can: "bead:update:own",
  }),
  undefer: defineAction({
    id: "beads.undefer",
    scope: "beads",
    title: "No longer put off",
    icon: "clock",
    can: "bead:update:own",
  }),
  revert: defineAction({
    id: "beads.revert",
    scope: "beads",
    title: "Revert",
    icon: "trash",
    can: "review:update:own",
    destructive: true,
  }),
  remove: defineAction({
    id: "beads.delete",
    scope: "beads",
    title: "Delete",
    icon: "trash",
    can: "bead:delete:own",
    destructive: true,
  }),
  memories: defineAction({
    id: "beads.memories",
    scope: "beads",
    title: "What is remembered",
    icon: "archive",
    can: "bead:read:team",
  }),
  look: defineAction({
    id: "beads.look",
    scope: "beads",
    title: "Table or tree",
    keys: ["v"],
    icon: "table",
  }),
} as const;

/** What one must be allowed to change a bead of one's own; see `useForeign` for those of others. */
export const MAY_CHANGE = "bead:update:own";
export const MAY_CREATE = "bead:create:own";
/** What one must be allowed to delete a bead of one’s own. */
export const MAY_DELETE = "bead:delete:own";
