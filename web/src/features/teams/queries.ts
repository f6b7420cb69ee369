import { queryOptions } from "@tanstack/react-query";
import { get, patch, post, remove } from "../../api/client";
import { type Listing, list } from "../../api/list";
import type { Team, TeamSpec } from "../../api/types";
import { type Rehearsal, useChange } from "../../change/useChange";
import { onLive } from "../../realtime/rules";

/** Everybody who reads teams has them under this key: the agents' page asks for their names. */
const TEAMS = ["teams"] as const;
const LIST = [...TEAMS, "list"] as const;
const single = (id: string) => ["team", id] as const;
const path = (id: string) => `/api/v1/teams/${encodeURIComponent(id)}` as const;

export const teamQueries = {
  all: queryOptions({ queryKey: LIST, queryFn: () => list("/api/v1/teams") }),
  one: (id: string) =>
    queryOptions({ queryKey: [...single(id), "self"], queryFn: () => get(path(id)) }),
  metrics: (id: string) =>
    queryOptions({
      queryKey: [...single(id), "metrics"],
      queryFn: () => get(`${path(id)}/metrics`),
    }),
  /** The workers that have tasks of it at the moment. */
  workers: (id: string) =>
    queryOptions({
      queryKey: [...single(id), "workers"],
      queryFn: async () => (await get(`${path(id)}/agents`)).items,
    }),
};

onLive({
  on: "team:*",
  invalidate: ({ metadata: { teamId } }) => [TEAMS, ...(teamId ? [single(teamId)] : [])],
});
// How far a team is and what it has spent follows from the steps of its run, which do not name it.
onLive({ on: ["run:*", "step:*", "workflow:*", "task:*"], invalidate: () => [LIST, ["team"]] });

/** Makes a team that is not started yet. */
export function createTeam(spec: TeamSpec): Promise<Team> {
  return post("/api/v1/teams", spec);
}

/** Changes what a team is asked to do; null takes a field away. */
export function updateTeam(id: string, change: TeamSpec): Promise<Team> {
  return patch(path(id), change);
}

function expectTeam(cache: Rehearsal, id: string, change: Partial<Team>): void {
  const changed = (team: Team) => (team.id === id ? { ...team, ...change } : team);
  cache.update<Listing<Team>>(TEAMS, (all) => ({ ...all, items: all.items.map(changed) }));
  cache.update<Team>([...single(id), "self"], changed);
}

const settle = ({ id }: Pick<Team, "id">) => [TEAMS, single(id), ["runs"]];

/** What is done to a team by one word. */
export type TeamVerb = "start" | "pause" | "resume" | "complete" | "cancel";

const STATES: Record<TeamVerb, string> = {
  start: "running",
  pause: "paused",
  resume: "running",
  complete: "completed",
  cancel: "cancelled",
};

const DONE: Partial<Record<TeamVerb, (name: string) => string>> = {
  start: (name) => `${name} has begun`,
  pause: (name) => `${name} is paused`,
  complete: (name) => `${name} is completed`,
  cancel: (name) => `${name} is cancelled`,
};

/** Starts, pauses, resumes, completes or cancels a team; the page shows it at once. */
export function useTeamVerb(verb: TeamVerb) {
  const done = DONE[verb];
  return useChange<Team, Team>({
    what: ({ name }) => `${verb[0]?.toUpperCase()}${verb.slice(1)} ${name}`,
    send: ({ id }) => post(`${path(id)}/${verb}`),
    expect: (cache, { id }) => expectTeam(cache, id, { state: STATES[verb] }),
    settle,
    ...(done && { done: ({ name }: Team) => done(name) }),
    ...(verb === "pause" && { undo: ({ id }: Team) => post(`${path(id)}/resume`) }),
  });
}

/** Changes how many of a team work at once. */
export function useScaleTeam() {
  const send = (id: string, size: number) => post(`${path(id)}/scale`, { size });
  return useChange<{ team: Team; size: number }, Team>({
    what: ({ team, size }) => `Let ${size} of ${team.name} work at once`,
    send: ({ team, size }) => send(team.id, size),
    expect: (cache, { team, size }) => expectTeam(cache, team.id, { size }),
    settle: ({ team }) => settle(team),
    done: ({ team, size }) => `${size} of ${team.name} work at once`,
    undo: ({ team }) => send(team.id, team.size),
  });
}

/** Deletes a team that does not work; nothing brings it back. */
export function useDeleteTeam() {
  return useChange<Team, void>({
    what: ({ name }) => `Delete ${name}`,
    send: ({ id }) => remove(path(id)),
    expect: (cache, { id }) =>
      cache.update<Listing<Team>>(TEAMS, (all) => ({
        ...all,
        items: all.items.filter((team) => team.id !== id),
      })),
    // Not the team itself: it would be asked for once more, and is not there.
    settle: () => [TEAMS],
    done: ({ name }) => `${name} is deleted`,
  });
}
