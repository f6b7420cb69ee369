import type { IconName } from "../../ui/Icon";

/** What is known of a section without its page. */
export interface SectionSpec {
  id: string;
  title: string;
  icon: IconName;
  /** More words by which it is found. */
  words: string;
}

/** The sections of the settings in their order; each has an address of its own. */
export const SECTIONS = [
  {
    id: "projects",
    title: "Projects",
    icon: "branch",
    words: "repository limits create rate agents memory",
  },
  {
    id: "runtimes",
    title: "Runtimes",
    icon: "terminal",
    words: "sandbox worktree gvisor walls bubblewrap isolation doctor test",
  },
  {
    id: "sandbox",
    title: "Sandbox profiles",
    icon: "stop",
    words: "walls read-only workspace net none isolation",
  },
  {
    id: "roles",
    title: "Agent roles",
    icon: "agents",
    words: "coordinator worker reviewer refinery monitor prompt custom",
  },
  {
    id: "providers",
    title: "Providers and keys",
    icon: "lock",
    words: "secret anthropic openai google api key test",
  },
  {
    id: "routing",
    title: "Routing",
    icon: "fork",
    words: "order fallback alias hedge cost latency cache proxy.toml",
  },
  {
    id: "models",
    title: "Models",
    icon: "agents",
    words: "usage tokens price",
  },
  {
    id: "budgets",
    title: "Budgets",
    icon: "costs",
    words: "money limit warn stop month day",
  },
  {
    id: "people",
    title: "People and roles",
    icon: "person",
    words: "user invite admin operator developer viewer remove disable",
  },
  {
    id: "keys",
    title: "API keys",
    icon: "terminal",
    words: "token scope revoke rotate expire program",
  },
  {
    id: "tokens",
    title: "Agent tokens",
    icon: "agents",
    words: "model proxy token secret revoke expire base url sdk",
  },
  {
    id: "session",
    title: "Your session",
    icon: "clock",
    words: "login sign out password",
  },
  {
    id: "notifications",
    title: "Notifications",
    icon: "bell",
    words: "desktop bell inbox notice",
  },
  {
    id: "audit",
    title: "Audit",
    icon: "review",
    words: "record who did what verify chain denied",
  },
  {
    id: "transfer",
    title: "Export and import",
    icon: "up",
    words: "settings file json backup move copy download upload",
  },
  {
    id: "keyboard",
    title: "Keyboard",
    icon: "table",
    words: "shortcut keys remap",
  },
  {
    id: "appearance",
    title: "Appearance",
    icon: "sun",
    words: "theme dark light",
  },
  {
    id: "about",
    title: "About",
    icon: "home",
    words: "version health server",
  },
] as const satisfies readonly SectionSpec[];

/** The name of a section. */
export type SectionId = (typeof SECTIONS)[number]["id"];
