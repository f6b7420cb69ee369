import type { Agent, Bead, Convoy, LandingLine } from "../../api/types";
import { isAlive } from "../agents/views";
import { isDropped } from "../beads/looks";

/** When agents worked on a bead. */
export interface Work {
  /** When the first of them was asked for. */
  beganAt: string;
  /** When the last of them ended, as far as one has. */
  endedAt?: string;
  isWorking: boolean;
}

/** Something about beads, by their ids; a plain object, so that the same facts stay the same object. */
export type ByBead<T> = Readonly<Record<string, T>>;

/** When agents worked on each bead. */
export function worksOf({ items }: { items: readonly Agent[] }): ByBead<Work> {
  const works = new Map<string, Work>();
  for (const agent of items) {
    const known = works.get(agent.bead);
    const ended = [known?.endedAt, agent.completedAt].flatMap((at) => at ?? []).sort();
    const endedAt = ended.at(-1);
    works.set(agent.bead, {
      beganAt: known && known.beganAt < agent.spawnedAt ? known.beganAt : agent.spawnedAt,
      ...(endedAt !== undefined && { endedAt }),
      isWorking: known?.isWorking || (isAlive(agent) && agent.status !== "paused"),
    });
  }
  return Object.fromEntries(works);
}

/** When each bead got into its branch. */
export function landedAtOf({ items }: { items: readonly LandingLine[] }): ByBead<string> {
  const landings = items.flatMap((line) => line.landings);
  return Object.fromEntries(
    landings.flatMap(({ bead, landed, endedAt }) => (landed && endedAt ? [[bead, endedAt]] : [])),
  );
}

/** What finished beads took on average. */
export interface Pace {
  meanSeconds: number;
  beads: number;
  /** Whether they are beads of the convoy itself, not only of its project. */
  isOwn: boolean;
}

/** What there is about finished beads to reckon by. */
interface Facts {
  works: ByBead<Work>;
  landedAt?: ByBead<string> | undefined;
}

/** What finished beads took, from the start of their first agent until they landed. */
export class Past {
  readonly works: ByBead<Work>;
  readonly #seconds = new Map<string, number>();
  readonly #byProject = new Map<string, number[]>();

  constructor(beads: ReadonlyMap<string, Bead>, { works, landedAt = {} }: Facts) {
    this.works = works;
    for (const [id, work] of Object.entries(works)) {
      const bead = beads.get(id);
      const seconds = bead && secondsOf(bead, work, landedAt[id]);
      if (!seconds) continue;
      this.#seconds.set(id, seconds);
      const others = this.#byProject.get(bead.projectId);
      if (others) others.push(seconds);
      else this.#byProject.set(bead.projectId, [seconds]);
    }
  }

  /** What finished beads of a convoy took; if it has none, those of its project; if there is none, nothing. */
  paceOf({ beads, projectId }: Pick<Convoy, "beads" | "projectId">): Pace | undefined {
    const own = beads.flatMap((id) => this.#seconds.get(id) ?? []);
    const isOwn = own.length > 0;
    const all = isOwn ? own : (this.#byProject.get(projectId) ?? []);
    if (all.length === 0) return undefined;
    const meanSeconds = all.reduce((sum, one) => sum + one, 0) / all.length;
    return { meanSeconds, beads: all.length, isOwn };
  }
}

/** How long a finished bead took; nothing if that was not measured. */
function secondsOf(bead: Bead, work: Work, landedAt: string | undefined): number | undefined {
  if (bead.status !== "done" || isDropped(bead)) return undefined;
  // What did not land was closed at some time after its agents ended; later changes of a bead are no measure of it.
  const ended = landedAt ? Date.parse(landedAt) : endOf(bead, work);
  const seconds = (ended - Date.parse(work.beganAt)) / 1000;
  return seconds > 0 ? seconds : undefined;
}

function endOf({ updatedAt }: Bead, { endedAt = "" }: Work): number {
  // An agent may have been left behind and ended long after its bead.
  return Math.min(Date.parse(endedAt), Date.parse(updatedAt));
}
