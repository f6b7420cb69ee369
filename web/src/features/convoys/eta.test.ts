import { describe, expect, it } from "vitest";
import { etaOf, type LeftBead } from "./eta";

const MEAN = 480;
const left = (id: string, needs: string[] = [], workedSeconds?: number): LeftBead => ({
  id,
  needs,
  workedSeconds,
});
const free = (count: number) => Array.from({ length: count }, (_, at) => left(`b${at}`));

/** Numbers that look random and are the same in each run. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** Beads that wait only for earlier ones, some of them begun. */
function someBeads(seed: number): LeftBead[] {
  const next = numbers(seed);
  const chance = () => next.next().value;
  return Array.from({ length: 1 + Math.floor(chance() * 12) }, (_, at) => {
    const earlier = Array.from({ length: at }, (_, one) => `b${one}`);
    const needs = earlier.filter(() => chance() < 0.25);
    return left(`b${at}`, needs, chance() < 0.3 ? chance() * 3 * MEAN : undefined);
  });
}

describe("C5 how long a convoy still takes", () => {
  it("is the work shared among the agents, if nothing waits", () => {
    expect(etaOf(free(6), 2, MEAN)).toEqual({ seconds: 3 * MEAN, beads: 6, waves: 1, late: 0 });
    expect(etaOf(free(6), 1, MEAN)?.seconds).toBe(6 * MEAN);
  });

  it("is the longest chain, however many agents there are", () => {
    const chain = [left("a"), left("b", ["a"]), left("c", ["b"]), left("alone")];
    expect(etaOf(chain, 50, MEAN)).toEqual({ seconds: 3 * MEAN, beads: 4, waves: 3, late: 0 });
  });

  it("finds the chain in whichever order the beads come, and what is done holds up nothing", () => {
    const chain = [left("c", ["b", "done"]), left("b", ["a"]), left("a", ["done"])];
    expect(etaOf(chain, 50, MEAN)).toMatchObject({ seconds: 3 * MEAN, waves: 3 });
  });

  it("a chain may have thousands of beads, whichever comes first", () => {
    const chain = Array.from({ length: 10_000 }, (_, at) => left(`b${at}`, [`b${at - 1}`]));
    const found = { beads: 10_000, waves: 10_000, seconds: 10_000 * MEAN };
    expect(etaOf(chain, 4, MEAN)).toMatchObject(found);
    expect(etaOf(chain.reverse(), 4, MEAN)).toMatchObject(found);
  });

  it("what was worked on is nearer to its end, but never past it", () => {
    expect(etaOf([left("a", [], 300)], 1, MEAN)?.seconds).toBe(180);
    expect(etaOf([left("a", [], 9_000)], 1, MEAN)).toMatchObject({ seconds: 0, late: 1 });
    const late = [left("a", [], 9_000), left("b", ["a"])];
    expect(etaOf(late, 1, MEAN)).toMatchObject({ seconds: MEAN, waves: 2, late: 1 });
  });

  it("no agent counts as one, and no bead takes no time", () => {
    expect(etaOf(free(2), 0, MEAN)?.seconds).toBe(2 * MEAN);
    expect(etaOf([], 3, MEAN)).toEqual({ seconds: 0, beads: 0, waves: 0, late: 0 });
  });

  it("beads that wait for each other have no end", () => {
    const circle = [left("a", ["c"]), left("b", ["a"]), left("c", ["b"]), left("alone")];
    expect(etaOf(circle, 2, MEAN)).toBeUndefined();
    expect(etaOf([left("a", ["a"])], 2, MEAN)).toBeUndefined();
  });

  it("is never negative, and never later with more agents", () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const beads = someBeads(seed);
      let before = Number.POSITIVE_INFINITY;
      for (let agents = 1; agents <= 14; agents += 1) {
        const seconds = etaOf(beads, agents, MEAN)?.seconds ?? Number.NaN;
        expect(seconds, `seed ${seed}, ${agents} agents`).toBeGreaterThanOrEqual(0);
        expect(seconds, `seed ${seed}, ${agents} agents`).toBeLessThanOrEqual(before);
        before = seconds;
      }
    }
  });

  it("is never later when a bead is done", () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const beads = someBeads(seed);
      const seconds = etaOf(beads, 3, MEAN)?.seconds ?? Number.NaN;
      expect(etaOf(beads.slice(1), 3, MEAN)?.seconds, `seed ${seed}`).toBeLessThanOrEqual(seconds);
    }
  });
});
