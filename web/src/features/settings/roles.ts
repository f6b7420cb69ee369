/** What somebody can be, as the server has it. */
export const ROLES = ["admin", "operator", "developer", "viewer"] as const;
