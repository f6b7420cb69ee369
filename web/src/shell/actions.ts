import { type ActionSpec, defineAction } from "../actions/actions";
import { PAGES } from "../pages";
import type { Theme } from "../theme/theme";

export const PALETTE = defineAction({
  id: "shell.palette",
  scope: "global",
  title: "Open the palette",
  keys: ["mod+k"],
  icon: "search",
  hidden: true,
});
export const KEYS = defineAction({
  id: "shell.keys",
  scope: "global",
  title: "Show all keys",
  keys: ["?"],
  icon: "table",
});

export const PROJECT = defineAction({
  id: "shell.project",
  scope: "global",
  title: "Switch the project",
  icon: "branch",
});

const theme = (name: Theme, title: string, icon: ActionSpec["icon"]) =>
  defineAction({
    id: `shell.theme-${name}`,
    scope: "global",
    title,
    ...(icon && { icon }),
  });

export const THEME: Record<Theme, ActionSpec> = {
  system: theme("system", "Theme: as the system", "circle"),
  light: theme("light", "Theme: light", "sun"),
  dark: theme("dark", "Theme: dark", "moon"),
};

/** `g` and a letter for each page. */
export const pageActions: ReadonlyMap<string, ActionSpec> = new Map(
  PAGES.map((page) => [
    page.id,
    defineAction({
      id: `go.${page.id}`,
      scope: "global",
      title: page.title,
      keys: [`g ${page.key}`],
      icon: page.icon,
    }),
  ]),
);
