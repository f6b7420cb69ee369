import { tellRefusal } from "./useChange";

/** What became of several things that were changed one after the other. */
export interface Several<T, R = unknown> {
  done: readonly { thing: T; output: R }[];
  refused: readonly { thing: T; error: Error }[];
}

/** Changes things one after the other; one that is refused keeps no other from its change. If all are, none was changed. */
export async function several<T, R>(
  things: readonly T[],
  work: (thing: T) => Promise<R>,
): Promise<Several<T, R>> {
  const done: { thing: T; output: R }[] = [];
  const refused: { thing: T; error: Error }[] = [];
  for (const thing of things) {
    try {
      done.push({ thing, output: await work(thing) });
    } catch (error) {
      refused.push({ thing, error: error instanceof Error ? error : new Error(String(error)) });
    }
  }
  const [first] = refused;
  if (first && done.length === 0) throw first.error;
  return { done, refused };
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
