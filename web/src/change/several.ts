import { tellRefusal } from "./useChange";

/** What became of several things that were changed. */
export interface Several<T, R = unknown> {
  done: readonly { thing: T; output: R }[];
  refused: readonly { thing: T; error: Error }[];
}

/**
 * Changes things one after the other, or so many at once; one that is refused keeps no other from its
 * change. If all are, none was changed.
 */
export async function several<T, R>(
  things: readonly T[],
  work: (thing: T) => Promise<R>,
  atOnce = 1,
): Promise<Several<T, R>> {
  const done = new Map<number, { thing: T; output: R }>();
  const refused = new Map<number, { thing: T; error: Error }>();
  const ahead = things.entries();
  const workOff = async () => {
    for (const [at, thing] of ahead) {
      try {
        done.set(at, { thing, output: await work(thing) });
      } catch (error) {
        refused.set(at, {
          thing,
          error: error instanceof Error ? error : new Error(String(error)),
        });
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, workOff));
  const inOrder = <V>(found: ReadonlyMap<number, V>) =>
    [...found].toSorted(([a], [b]) => a - b).map(([, value]) => value);
  const [first] = inOrder(refused);
  if (first && done.size === 0) throw first.error;
  return { done: inOrder(done), refused: inOrder(refused) };
}

/** Says which of several were not changed, and why the first of them was not; only these are tried again. */
export function tellRefused<T>(
  what: (things: readonly T[]) => string,
  { refused }: Several<T>,
  retry: (things: readonly T[]) => void,
): void {
  const [first] = refused;
  if (!first) return;
  const things = refused.map(({ thing }) => thing);
  tellRefusal(what(things), first.error, () => retry(things));
}

/** The things that were changed. */
export const doneOf = <T>({ done }: Several<T>): T[] => done.map(({ thing }) => thing);
