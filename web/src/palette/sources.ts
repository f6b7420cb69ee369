import { queryOptions, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useMemo } from "react";
import { list } from "../api/list";
import type { Agent, Bead, Convoy, ReviewRow, Team, View } from "../api/types";
import { agentQueries } from "../features/agents/queries";
import { convoyQueries } from "../features/convoys/queries";
import { ask } from "../features/intents/AskButton";
import { reviewQueries } from "../features/review/queries";
import { SECTIONS } from "../features/settings/sections";
import { teamQueries } from "../features/teams/queries";
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
  /** Words that it is found by and that are not shown. */
  also?: string;
  icon?: IconName | undefined;
  keys?: string | undefined;
  /** Why it cannot be done now. */
  disabled?: string | undefined;
  run?: () => void;
  /** Where it leads, for what is found by a search: the palette keeps it among what was used. */
  to?: string | undefined;
  /** The next step, instead of doing something. */
  steps?: () => readonly PaletteItem[];
}

/** So many beads are asked for; the server looks for them by the text, so they are the ones that fit. */
const MOST_BEADS = 100;
/** Below this, everything would match. */
const MIN_CHARS = 2;
/** What an agent was told may be pages long; its beginning says which one it is. */
const NOTE_CHARS = 160;
const NONE: readonly never[] = [];

const beadsWith = (text: string) =>
  queryOptions({
    queryKey: ["palette", "beads", text],
    queryFn: () => list("/api/v1/beads", { filter: { search: text }, most: MOST_BEADS }),
    staleTime: 30_000,
  });

/**
 * Agents, beads and convoys for what was typed; pages that do not exist yet offer nothing. The server has no search
 * for agents and convoys, so all of them are read, once for the palette and their pages together, and events keep
 * them up to date.
 */
export function useFoundThings(typed: string): readonly PaletteItem[] {
  const text = useDeferredValue(typed.trim());
  const enabled = text.length >= MIN_CHARS;
  const has = (id: string) => enabled && PAGES.some((page) => page.id === id);
  const agents = useQuery({ ...agentQueries.all(), enabled: has("agents") });
  const beads = useQuery({ ...beadsWith(text), enabled: has("beads") });
  const convoys = useQuery({ ...convoyQueries.all(), enabled: has("convoys") });
  const teams = useQuery({ ...teamQueries.all, enabled: has("teams") });
  const reviews = useQuery({ ...reviewQueries.queue(), enabled: has("review") });
  const views = useQuery({ ...viewsQuery, enabled });
  const named = useMemo(
    () => [
      ...(agents.data?.items ?? NONE).map(agentLine),
      ...(convoys.data?.items ?? NONE).map(convoyLine),
      ...(teams.data?.items ?? NONE).map(teamLine),
      ...(reviews.data?.items ?? NONE).map(reviewLine),
      ...viewsToGo(views.data?.items ?? NONE),
      ...SETTINGS,
    ],
    [agents.data, convoys.data, teams.data, reviews.data, views.data],
  );
  const written = useMemo(
    () => [...(beads.data?.items ?? NONE).map(beadLine), ...wishes(text)],
    [beads.data, text],
  );
  return useMemo(() => (enabled ? [...named, ...written] : NONE), [enabled, named, written]);
}

/** A line that goes to a place. */
export const leadsTo = (to: string) => ({ to, run: () => navigate(to) });

const SETTINGS: readonly PaletteItem[] = SECTIONS.map(({ id, title, icon, words }) => ({
  id: `settings ${id}`,
  group: "Settings",
  title,
  also: `settings ${words}`,
  icon,
  ...leadsTo(`/settings/${id}`),
}));

function agentLine({ id, label, task, bead }: Agent): PaletteItem {
  return {
    id: `agent ${id}`,
    group: "Agents",
    title: label,
    note: task.slice(0, NOTE_CHARS),
    also: `${bead} ${id}`,
    icon: "agents",
    ...leadsTo(`/agents/${encodeURIComponent(id)}`),
  };
}

function beadLine({ id, title }: Bead): PaletteItem {
  return {
    id: `bead ${id}`,
    group: "Beads",
    title,
    note: id,
    icon: "beads",
    ...leadsTo(`/beads/${encodeURIComponent(id)}`),
  };
}

function convoyLine({ id, name }: Convoy): PaletteItem {
  return {
    id: `convoy ${id}`,
    group: "Convoys",
    title: name,
    note: id,
    icon: "convoys",
    ...leadsTo(`/convoys/${encodeURIComponent(id)}`),
  };
}

function teamLine({ id, name, state }: Team): PaletteItem {
  return {
    id: `team ${id}`,
    group: "Teams",
    title: name,
    note: state,
    also: id,
    icon: "teams",
    run: () => navigate(`/teams?${new URLSearchParams({ team: id })}`),
  };
}

function reviewLine({ bead, title }: ReviewRow): PaletteItem {
  return {
    id: `review ${bead}`,
    group: "Reviews",
    title: `Review ${title}`,
    note: bead,
    icon: "review",
    ...leadsTo(`/review/${encodeURIComponent(bead)}`),
  };
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
        ...leadsTo(`${of.path}?${params}`),
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
