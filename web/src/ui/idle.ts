/** How long one go may take where the browser does not say how much time there is. */
const SLICE_MS = 4;

/**
 * Does something for each item while there is nothing else to do, a little at a time; the answer ends it. For what
 * is needed soon and would hold up the page if it were done all at once.
 */
export function eachWhenIdle<T>(items: readonly T[], act: (item: T) => void): () => void {
  let at = 0;
  let cancel = () => {};
  const later = () => {
    cancel = onIdle((hasTime) => {
      for (; at < items.length && hasTime(); at += 1) act(items[at] as T);
      if (at < items.length) later();
    });
  };
  later();
  return () => cancel();
}

function onIdle(act: (hasTime: () => boolean) => void): () => void {
  // Not every browser has it.
  if (typeof requestIdleCallback === "function") {
    const id = requestIdleCallback((deadline) => act(() => deadline.timeRemaining() > 1));
    return () => cancelIdleCallback(id);
  }
  const timer = setTimeout(() => {
    const end = performance.now() + SLICE_MS;
    act(() => performance.now() < end);
  });
  return () => clearTimeout(timer);
}
