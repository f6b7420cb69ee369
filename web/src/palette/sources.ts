import { queryOptions, useQuery } from "@tanstack/react-query";
import { useDeferredValue } from "react";
import { list } from "../api/list";
import type { Agent, Bead, Convoy, View } from "../api/types";
import { ask } from "../features/intents/AskButton";
import { reviewQueries } from "../features/review/queries";
import { OPENED } from "../features/views/address";
import { viewsQuery } from "../features/views/queries";
import { PAGES } from "../pages";
import { navigate } from "../router/router";
import type { IconName } from "../ui/Icon";

/** One line of the palette. */
export interface PaletteItem {
  id: string;
  /** Under which head it is listed. */
  group: string;
  title: string;
  /** More words, grey; found by the search as well. */
  note?: string | undefined;
  icon?: IconName | undefined;
  keys?: string | undefined;
  /** Why it cannot be done now. */
  disabled?: string | undefined;
  run?: () => void;
  /** The next step, instead of doing something. */
  steps?: () => readonly PaletteItem[];
}

/** So many of each kind are asked for. */
const MOST = 100;
/** Below this, everything would match. */
const MIN_CHARS = 2;

const found = <T>(name: string, path: string, filter: Record<string, string | undefined>) =>
  queryOptions({
    queryKey: ["palette", name, filter],
    queryFn: () => list<T>(path, { filter, most: MOST }),
    staleTime: 30_000,
  });

/** Agents, beads and convoys for what was typed; pages that do not exist yet offer nothing. */
export function useFoundThings(typed: string): PaletteItem[] {
  const text = useDeferredValue(typed.trim());
  const enabled = text.length >= MIN_CHARS;
  const has = (id: string) => PAGES.some((page) => page.id === id);
  const agents = useQuery({
    ...found<Agent>("agents", "/api/v1/agents", {}),
    enabled: enabled && has("agents"),
  });
  const beads = useQuery({
    ...found<Bead>("beads", "/api/v1/beads", { search: text }),
    enabled: enabled && has("beads"),
  });
  const convoys = useQuery({
    ...found<Convoy>("convoys", "/api/v1/convoys", {}),
    enabled: enabled && has("convoys"),
  });
  const reviews = useQuery({ ...reviewQueries.queue(), enabled: enabled && has("review") });
  const views = useQuery({ ...viewsQuery, enabled });
  if (!enabled) return [];
  return [
    ...(agents.data?.items ?? []).map((agent) => ({
      id: `agent ${agent.id}`,
      group: "Agents",
      title: agent.label,
      note: agent.task,
      icon: "agents" as const,
      run: () => navigate(`/agents/${encodeURIComponent(agent.id)}`),
    })),
    ...(beads.data?.items ?? []).map((bead) => ({
      id: `bead ${bead.id}`,
      group: "Beads",
      title: bead.title,
      note: bead.id,
      icon: "beads" as const,
      run: () => navigate(`/beads/${encodeURIComponent(bead.id)}`),
    })),
    ...(convoys.data?.items ?? []).map((convoy) => ({
      id: `convoy ${convoy.id}`,
      group: "Convoys",
      title: convoy.name,
      note: convoy.id,
      icon: "convoys" as const,
      run: () => navigate(`/convoys/${encodeURIComponent(convoy.id)}`),
    })),
    ...(reviews.data?.items ?? []).map((review) => ({
      id: `review ${review.bead}`,
      group: "Reviews",
      title: `Review ${review.title}`,
      note: review.bead,
      icon: "review" as const,
      run: () => navigate(`/review/${encodeURIComponent(review.bead)}`),
    })),
    ...viewsToGo(views.data?.items ?? []),
    ...wishes(text),
  ];
}

/** Kept views, wherever they are of. */
function viewsToGo(views: readonly View[]): PaletteItem[] {
  return views.flatMap(({ id, name, page, query }) => {
    const of = PAGES.find((one) => one.id === page);
    if (!of) return [];
    const params = new URLSearchParams(query);
    params.set(OPENED, id);
    return [
      {
        id: `view ${id}`,
        group: "Views",
        title: name,
        note: of.title,
        icon: of.icon,
        run: () => navigate(`${of.path}?${params}`),
      },
    ];
  });
}

/** A name is looked for; a sentence is a wish. */
const WISH_WORDS = 3;

function wishes(text: string): PaletteItem[] {
  if (text.split(/\s+/).length < WISH_WORDS) return [];
  return [
    {
      id: "wish",
      group: "Ask",
      title: text,
      note: "Plan it",
      icon: "message",
      run: () => ask(text),
    },
  ];
}
