import { defineAction } from "./actions";

/** Actions that many pages have under the same key. */
export const FILTER = defineAction({
  id: "page.filter",
  scope: "global",
  title: "Filter",
  keys: ["/"],
  icon: "filter",
});
export const CREATE = defineAction({
  id: "page.create",
  scope: "global",
  title: "Create",
  keys: ["c"],
  icon: "plus",
});
export const BACK = defineAction({
  id: "page.back",
  scope: "global",
  title: "Close or go back",
  keys: ["esc"],
  hidden: true,
});
export const PANE_BEFORE = defineAction({
  id: "page.pane-before",
  scope: "global",
  title: "Pane before",
  keys: ["["],
  hidden: true,
});
export const PANE_AFTER = defineAction({
  id: "page.pane-after",
  scope: "global",
  title: "Next pane",
  keys: ["]"],
  hidden: true,
});

/** Keys of every list, table and grid. */
export const LIST = {
  down: defineAction({
    id: "list.down",
    scope: "list",
    title: "Next row",
    keys: ["j", "down"],
    hidden: true,
  }),
  up: defineAction({
    id: "list.up",
    scope: "list",
    title: "Row before",
    keys: ["k", "up"],
    hidden: true,
  }),
  select: defineAction({
    id: "list.select",
    scope: "list",
    title: "Select the row",
    keys: ["x"],
    hidden: true,
  }),
  open: defineAction({
    id: "list.open",
    scope: "list",
    title: "Open the row",
    keys: ["enter"],
    hidden: true,
  }),
  peek: defineAction({
    id: "list.peek",
    scope: "list",
    title: "Peek at the row",
    keys: ["space"],
    hidden: true,
  }),
} as const;
