import { defineAction } from "../../actions/actions";

/** Answers by one key, for the notice under the cursor. */
export const INBOX = {
  yes: defineAction({
    id: "inbox.yes",
    scope: "inbox",
    title: "Yes, or write an answer",
    keys: ["y"],
    icon: "check",
    can: "agent:execute:own",
  }),
  no: defineAction({
    id: "inbox.no",
    scope: "inbox",
    title: "No, or let it decide",
    keys: ["n"],
    icon: "clear",
    can: "agent:execute:own",
  }),
} as const;
