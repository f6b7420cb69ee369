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

const NO_WAY: Way = { seconds: 0, beads: 0 };

/** The longest way from a first bead to a last one, in time and in beads; nothing if one leads back to itself. */
function longestWay(
  left: readonly LeftBead[],
  seconds: ReadonlyMap<string, number>,
): Way | undefined {
  const byId = new Map(left.map((bead) => [bead.id, bead]));
  // A bead whose way is still being looked for has none: who meets it has gone in a circle.
  const ways = new Map<string, Way | undefined>();
  const wayTo = (bead: LeftBead): Way | undefined => {
    if (ways.has(bead.id)) return ways.get(bead.id);
    ways.set(bead.id, undefined);
    const before = longer(bead.needs.flatMap((id) => byId.get(id) ?? []).map(wayTo));
    if (before === undefined) return undefined;
    const way = {
      seconds: before.seconds + (seconds.get(bead.id) ?? 0),
      beads: before.beads + 1,
    };
    ways.set(bead.id, way);
    return way;
  };
  return longer(left.map(wayTo));
}

function longer(ways: readonly (Way | undefined)[]): Way | undefined {
  return ways.reduce<Way | undefined>(
    (best, way) =>
      best &&
      way && {
        seconds: Math.max(best.seconds, way.seconds),
        beads: Math.max(best.beads, way.beads),
      },
    NO_WAY,
  );
}
