import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import { useInboxCount } from "./features/inbox/queries";
import { useWaitingReviews } from "./features/review/queries";
import { CodeGone } from "./ui/Boundary";
import type { IconName } from "./ui/Icon";

/** What a page is given: the words of the address behind its path. */
export interface PageProps {
  rest: string[];
}

/** A page of the dashboard. It is in the navigation, the palette and the keys by being listed here. */
export interface Page {
  id: string;
  /** Its place below `/dashboard`; everything below it is its own. */
  path: string;
  title: string;
  icon: IconName;
  /** The key after `g`. */
  key: string;
  View: LazyExoticComponent<ComponentType<PageProps>>;
  /** Fetches its code; called when the browser has time, so that it is there without a network. */
  load: () => Promise<unknown>;
  /** It is found by its address, its key and the palette, but is no place of every day. */
  isAside?: boolean;
  /** A hook: how many things wait there for a person. */
  useCount?: () => number | undefined;
}

type Module = { Page: ComponentType<PageProps> };

function page(entry: Omit<Page, "View" | "load"> & { load: () => Promise<Module> }): Page {
  return {
    ...entry,
    View: lazy(() => entry.load().then(({ Page }) => ({ default: Page }), codeIsGone)),
  };
}

/** A newer server has other files; only a reload finds them. */
function codeIsGone(): never {
  throw new CodeGone("the code of this page could not be loaded; a reload may bring it");
}

/** Every page there is, in the order of the navigation. */
export const PAGES: readonly Page[] = [
  page({
    id: "home",
    path: "/",
    title: "Home",
    icon: "home",
    key: "h",
    load: () => import("./features/home/HomePage"),
  }),
  page({
    id: "inbox",
    path: "/inbox",
    title: "Inbox",
    icon: "inbox",
    key: "i",
    load: () => import("./features/inbox/InboxPage"),
    useCount: useInboxCount,
  }),
  page({
    id: "agents",
    path: "/agents",
    title: "Agents",
    icon: "agents",
    key: "a",
    load: () => import("./features/agents/AgentsPage"),
  }),
  page({
    id: "teams",
    path: "/teams",
    title: "Teams",
    icon: "teams",
    key: "t",
    load: () => import("./features/teams/TeamsPage"),
  }),
  page({
    id: "convoys",
    path: "/convoys",
    title: "Convoys",
    icon: "convoys",
    key: "c",
    load: () => import("./features/convoys/ConvoysPage"),
  }),
  page({
    id: "beads",
    path: "/beads",
    title: "Beads",
    icon: "beads",
    key: "b",
    load: () => import("./features/beads/BeadsPage"),
  }),
  page({
    id: "review",
    path: "/review",
    title: "Review",
    icon: "review",
    key: "r",
    load: () => import("./features/review/ReviewPage"),
    useCount: useWaitingReviews,
  }),
  page({
    id: "landing",
    path: "/landing",
    title: "Merge queue",
    icon: "merge",
    key: "m",
    load: () => import("./features/landing/LandingPage"),
  }),
  page({
    id: "queue",
    path: "/queue",
    title: "Queue",
    icon: "queue",
    key: "q",
    load: () => import("./features/queue/QueuePage"),
  }),
  page({
    id: "costs",
    path: "/costs",
    title: "Costs",
    icon: "costs",
    key: "$",
    load: () => import("./features/costs/CostsPage"),
  }),
  page({
    id: "settings",
    path: "/settings",
    title: "Settings",
    icon: "settings",
    key: "s",
    load: () => import("./features/settings/SettingsPage"),
  }),
  page({
    id: "welcome",
    path: "/welcome",
    title: "Set up",
    icon: "play",
    key: "w",
    isAside: true,
    load: () => import("./features/welcome/WelcomePage"),
  }),
];
