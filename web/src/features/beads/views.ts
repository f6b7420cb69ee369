import type { BuiltIn } from "../views/address";

const queryOf = (q: string, more: Record<string, string> = {}) =>
  new URLSearchParams({ q, ...more }).toString();

/** What makes a view of beads: its query, shape, groups and sorting; and those that all need. */
export const BEAD_VIEWS: { page: string; fields: readonly string[]; builtIn: readonly BuiltIn[] } =
  {
    page: "beads",
    fields: ["q", "view", "by", "group", "sort"],
    builtIn: [
      ["Everything", ""],
      ["Ready to begin", queryOf("status:open blocked:no agent:none")],
      ["Mine", queryOf("agent:me -status:done")],
      ["Blocked", queryOf("blocked:yes")],
      ["Not touched for a week", queryOf("-status:done updated:>1w", { sort: "updated" })],
    ],
  };
