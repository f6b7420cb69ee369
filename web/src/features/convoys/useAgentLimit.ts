import { patch } from "../../api/client";
import type { Listing } from "../../api/list";
import type { Project } from "../../api/types";
import { useChange } from "../../change/useChange";
import { plural, shellWord } from "../../ui/format";
import { projectsQuery, useProject } from "../projects/queries";

interface Wish {
  project: Project;
  most: number | undefined;
}

/** A limit that the server holds, and how it is set on the command line. */
export interface HeldLimit {
  most: number | undefined;
  set: (most: number | undefined) => void;
  cli: (most: number | undefined) => string;
  /** What it means to those who come when it is reached. */
  meaning: string;
}

const asked = (project: Project, limits: Project["limits"]) =>
  patch(`/api/v1/projects/${encodeURIComponent(project.id)}`, { limits });

/**
 * How many agents may be at work at once in the project that the board is about: the next card waits, and its agent
 * begins when another one is done. Nothing while several projects are on the board.
 */
export function useAgentLimit(): HeldLimit | undefined {
  const { project, projects } = useProject();
  const only = project ?? (projects.length === 1 ? projects[0] : undefined);
  const change = useChange<Wish, Project>({
    what: ({ project: { name }, most }) => `${wordsOf(most)} in ${name}`,
    send: ({ project, most }) => asked(project, { ...project.limits, maxAgents: most ?? null }),
    expect: (cache, { project, most }) =>
      cache.update<Listing<Project>>(projectsQuery.queryKey, (listing) => ({
        ...listing,
        items: listing.items.map((one) =>
          one.id === project.id
            ? { ...one, limits: { ...one.limits, maxAgents: most ?? null } }
            : one,
        ),
      })),
    settle: () => [projectsQuery.queryKey],
    done: ({ project: { name }, most }) => `${wordsOf(most)} in ${name}`,
    undo: ({ project }) => asked(project, project.limits),
  });
  if (!only) return undefined;
  return {
    most: only.limits.maxAgents ?? undefined,
    set: (most) => change.mutate({ project: only, most }),
    cli: (most) => `godel project update ${shellWord(only.name)} --max-agents ${most ?? "none"}`,
    meaning: `Agents at work in ${only.name}: the next card waits until one of them is done.`,
  };
}

function wordsOf(most: number | undefined): string {
  return most === undefined
    ? "Any number of agents at work"
    : `At most ${plural(most, "agent")} at work`;
}
