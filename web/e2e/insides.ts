import { SECTIONS } from "../src/features/settings/sections";
import type { Full, Place } from "./places";
import type { Seed } from "./seed";

/**
 * What is inside the pages: tabs, panels, drawers, one thing instead of a list. Journeys that are
 * about everything there is to see go there, too.
 */
export const INSIDES: readonly (readonly [string, (full: Full) => readonly Place[]])[] = [
  ["all about an agent, and the drawer for a new one", ({ seed }) => agentPlaces(seed)],
  ["a bead beside its list and its board", ({ seed }) => beadPlaces(seed)],
  ["a review with its change", ({ seed }) => reviewPlaces(seed)],
  ["one thing beside its list", besidePlaces],
  ["tasks, and a run as graph, times and list", ({ run }) => runPlaces(run)],
  ["forms for teams and workflows, and a workflow beside its list", formPlaces],
  ["what is kept of agents and beads", keptPlaces],
  ["every section of the settings", sectionPlaces],
];

/** All of them in one list. */
export function insidesOf(full: Full): readonly Place[] {
  return INSIDES.flatMap(([, placesOf]) => placesOf(full));
}

function agentPlaces(seed: Seed): Place[] {
  const about = (tab: string, sees: string): Place => ({
    ...{ name: `agent-${tab}`, path: `/agents/${seed.inReview.agent}?tab=${tab}`, sees },
  });
  return [
    about("timeline", 'ul[aria-label="Timeline"] li, ol[aria-label="Timeline"] li'),
    about("terminal", "[role=log] >> text=is-committed"),
    about("changes", "text=hello from an agent"),
    about("context", '[role=img][aria-label^="Tokens of the last"]'),
    about("cost", 'table[aria-label="Requests to models"]'),
    about("session", '[aria-label="Session tree"]'),
    about("events", "button:has-text('agent:complete')"),
    { name: "agents-table", path: "/agents?view=table", sees: "main [role=grid] [role=row]" },
    { name: "agents-spawn", path: "/agents?spawn=1", sees: "dialog textarea" },
  ];
}

function beadPlaces(seed: Seed): Place[] {
  const tabs = ["about", "links", "work", "activity"];
  return [
    ...tabs.map((tab) => ({
      name: `bead-${tab}`,
      path: `/beads?peek=${seed.inReview.bead}&tab=${tab}`,
      sees: `aside [role=tab][aria-selected=true] >> text=/^${tab}/i`,
    })),
    {
      name: "convoys-bead",
      path: `/convoys?peek=${seed.beads[0]}`,
      sees: "aside [role=tab][aria-selected=true]",
    },
  ];
}

function besidePlaces({ seed, task, team }: Full): Place[] {
  return [
    { name: "agents-peek", path: `/agents?peek=${seed.busy}`, sees: "aside dl" },
    { name: "task", path: `/queue?task=${task}`, sees: "aside dl" },
    { name: "team", path: `/teams?team=${team}`, sees: "aside dl" },
  ];
}

function reviewPlaces(seed: Seed): Place[] {
  const path = `/review/${seed.inReview.bead}`;
  return [
    { name: "review-change", path, sees: "[data-line]" },
    { name: "review-split", path: `${path}?diff=split`, sees: "[data-line]" },
  ];
}

function runPlaces(run: string): Place[] {
  const path = `/queue/runs/${run}`;
  return [
    { name: "runs", path: "/queue?tab=workflows", sees: "[role=grid] [data-row]" },
    { name: "run-graph", path: `${path}?step=build`, sees: 'button[data-step="agree"]' },
    { name: "run-time", path: `${path}?view=time`, sees: "main h1" },
    { name: "run-list", path: `${path}?view=list`, sees: '[data-line="agree"]' },
    { name: "calls", path: "/costs?tab=requests", sees: "main [role=grid] [data-row]" },
  ];
}

function formPlaces(): Place[] {
  const stored = "/queue?tab=workflows&flows=stored";
  return [
    { name: "teams-new", path: "/teams?new=1", sees: "dialog textarea" },
    { name: "workflow", path: `${stored}&workflow=release`, sees: "aside pre" },
    { name: "workflow-save", path: `${stored}&save=1`, sees: "dialog textarea" },
    { name: "workflow-run", path: `${stored}&start=release`, sees: "dialog select" },
  ];
}

function keptPlaces(): Place[] {
  const kept = ["snapshots", "sessions", "letters", "worktrees"];
  return [
    ...kept.map((id) => ({ name: `kept-${id}`, path: `/agents?kept=${id}`, sees: "dialog h2" })),
    { name: "kept-memories", path: "/beads?kept=memories", sees: "dialog h2" },
  ];
}

function sectionPlaces(): Place[] {
  return SECTIONS.map(({ id }) => ({
    name: `settings-${id}`,
    path: `/settings/${id}`,
    sees: `a[href="/dashboard/settings/${id}"][aria-current]`,
  }));
}
