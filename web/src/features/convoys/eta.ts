/** A bead that is not done, as far as time is concerned. */
export interface LeftBead {
  id: string;
  /** The beads that have to be done before it. */
  needs: readonly string[];
  /** How long it has been worked on; nothing if nobody works on it. */
  workedSeconds?: number | undefined;
}

/** How long a convoy still takes, if its beads take as long as finished ones did. */
export interface Eta {
  seconds: number;
  beads: number;
  /** How many beads stand one after the other at most. */
  waves: number;
  /** How many beads have taken longer already than finished ones did. */
  late: number;
}

/**
 * Reckons how long beads still take: as long as their longest chain, or as all of them shared among the agents,
 * whichever is longer. Beads that wait for each other never end, so there is nothing to reckon.
 */
export function etaOf(
  left: readonly LeftBead[],
  agents: number,
  meanSeconds: number,
): Eta | undefined {
  const seconds = new Map(
    left.map(({ id, workedSeconds = 0 }) => [id, Math.max(0, meanSeconds - workedSeconds)]),
  );
  const chain = longestWay(left, seconds);
  if (chain === undefined) return undefined;
  const all = [...seconds.values()].reduce((sum, one) => sum + one, 0);
  return {
    seconds: Math.max(chain.seconds, all / Math.max(1, agents)),
    beads: left.length,
    waves: chain.beads,
    late: left.filter(({ workedSeconds = 0 }) => workedSeconds > meanSeconds).length,
  };
}

interface Way {
  seconds: number;
  beads: number;
}

/**
 * The longest way from a first bead to a last one, in time and in beads; nothing if one leads back to itself.
 * Wave by wave, and not by recursion: a chain may have thousands of beads.
 */
function longestWay(
  left: readonly LeftBead[],
  seconds: ReadonlyMap<string, number>,
): Way | undefined {
  const waiting = new Map(left.map((bead) => [bead.id, needsAmong(bead, seconds).length]));
  const followers = new Map<string, LeftBead[]>();
  for (const bead of left) {
    for (const id of needsAmong(bead, seconds)) {
      const others = followers.get(id);
      if (others) others.push(bead);
      else followers.set(id, [bead]);
    }
  }
  /** The longest way to what a bead waits for, as far as it is known. */
  const before = new Map<string, Way>();
  const longest: Way = { seconds: 0, beads: 0 };
  const ready = left.filter(({ id }) => waiting.get(id) === 0);
  let reached = 0;
  for (let bead = ready.pop(); bead; bead = ready.pop()) {
    reached += 1;
    const to = before.get(bead.id);
    const way = {
      seconds: (to?.seconds ?? 0) + (seconds.get(bead.id) ?? 0),
      beads: (to?.beads ?? 0) + 1,
    };
    lengthen(longest, way);
    for (const next of followers.get(bead.id) ?? []) {
      const known = before.get(next.id);
      if (known) lengthen(known, way);
      else before.set(next.id, { ...way });
      const open = (waiting.get(next.id) ?? 0) - 1;
      waiting.set(next.id, open);
      if (open === 0) ready.push(next);
    }
  }
  return reached === left.length ? longest : undefined;
}

/** What a bead waits for among those that are left. */
function needsAmong({ needs }: LeftBead, left: ReadonlyMap<string, unknown>): string[] {
  return [...new Set(needs)].filter((id) => left.has(id));
}

function lengthen(way: Way, other: Way) {
  way.seconds = Math.max(way.seconds, other.seconds);
  way.beads = Math.max(way.beads, other.beads);
}
