/** What of the browser this needs; the real `window` fits. */
interface Page {
  location: { hash: string; pathname: string; search: string };
  history: { replaceState(data: unknown, unused: string, url: string): void };
}

/** Where a person lets a program in; the server tells programs the same path. */
export function isDevicePath(pathname: string): boolean {
  return /^\/dashboard\/device\/?$/.test(pathname);
}

/** Takes the code out of `?code=...` and off the address bar: a page in the history must not ask. */
export function takeDeviceCode(page: Page): string | undefined {
  const { hash, pathname, search } = page.location;
  const fields = new URLSearchParams(search);
  const code = fields.get("code");
  if (!isDevicePath(pathname) || code === null) return undefined;
  fields.delete("code");
  const rest = fields.size > 0 ? `?${fields}` : "";
  page.history.replaceState(null, "", pathname + rest + hash);
  return code.trim() || undefined;
}

let offered = "";

/** Keeps a code while its page is not shown, such as behind the login. */
export function offerDeviceCode(code: string): void {
  offered = code;
}

export function offeredDeviceCode(): string {
  return offered;
}
