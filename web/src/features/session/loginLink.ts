/** What of the browser this needs; the real `window` fits. */
interface Page {
  location: { hash: string; pathname: string; search: string };
  history: { replaceState(data: unknown, unused: string, url: string): void };
}

/**
 * Takes the one-time token out of `#token=...` and off the address bar, so that it stays neither
 * in the history nor on a screenshot.
 */
export function takeLoginToken(page: Page): string | undefined {
  const { hash, pathname, search } = page.location;
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  if (!fields.has("token")) return undefined;
  page.history.replaceState(null, "", pathname + search);
  return fields.get("token")?.trim() || undefined;
}
