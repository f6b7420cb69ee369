/** What is on its way to the server about one bead. */
interface Line {
  count: number;
  tail: Promise<unknown>;
}

const lines = new Map<string, Line>();

/**
 * Sends changes of a bead one after the other, as they were made. Somebody who decides faster than
 * the server answers would otherwise take back another decision than the last.
 */
export function inOrder<T>(bead: string, send: () => Promise<T>): Promise<T> {
  const line = lines.get(bead) ?? { count: 0, tail: Promise.resolve() };
  lines.set(bead, line);
  line.count += 1;
  const sent = line.tail.then(send, send);
  const done = sent.finally(() => {
    line.count -= 1;
    if (line.count === 0) lines.delete(bead);
  });
  line.tail = done.catch(() => undefined);
  return done;
}

/** Whether something is on its way; what the server says meanwhile is older than what is shown. */
export function isOnTheWay(bead: string): boolean {
  return lines.has(bead);
}
