import { useSyncExternalStore } from "react";

/** What a person can choose; `system` follows the device. */
export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** Also read by `public/theme.js`, which sets the class before the first paint. */
const STORED_AS = "godel.theme";

const listeners = new Set<() => void>();

/** The theme that was chosen. */
export function currentTheme(): Theme {
  const { classList } = document.documentElement;
  return classList.contains("dark") ? "dark" : classList.contains("light") ? "light" : "system";
}

/** Chooses a theme, at once and for later visits. */
export function setTheme(theme: Theme): void {
  const { classList } = document.documentElement;
  classList.remove("light", "dark");
  if (theme !== "system") classList.add(theme);
  try {
    if (theme === "system") localStorage.removeItem(STORED_AS);
    else localStorage.setItem(STORED_AS, theme);
  } catch {
    // Without storage the choice lasts until the next reload.
  }
  for (const tell of listeners) tell();
}

/** The chosen theme, drawn again when it changes. */
export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, currentTheme);
}
