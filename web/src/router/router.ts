import { useCallback, useMemo, useSyncExternalStore } from "react";
import { hrefOf, type Place, placeOf } from "./match";

const listeners = new Set<() => void>();
let here: Place | undefined;

/** Where the reader is now. */
export function currentPlace(): Place {
  const { pathname, search } = window.location;
  const place = placeOf({ pathname, search });
  if (here?.path !== place.path || here.search !== place.search) here = place;
  return here;
}

/** Goes to another place below `/dashboard`, such as `/agents?status=busy`. */
export function navigate(to: string, { replace = false } = {}): void {
  go(hrefOf(to, currentPlace()), replace);
}

/** Sets fields of the address and leaves the others; `undefined` takes a field away. */
export function setParams(
  fields: Readonly<Record<string, string | undefined>>,
  { replace = true } = {},
): void {
  const url = new URL(window.location.href);
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === "") url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  go(`${url.pathname}${url.search}`, replace);
}

/** The place, drawn again when it changes. */
export function usePlace(): Place {
  return useSyncExternalStore(subscribe, currentPlace);
}

/** All fields of the address. */
export function useParams(): URLSearchParams {
  const { search } = usePlace();
  return useMemo(() => new URLSearchParams(search), [search]);
}

/** One field of the address, so that a reload or a shared link shows the same view. */
export function useParam(name: string): [string | undefined, (value?: string) => void] {
  const value = useParams().get(name) ?? undefined;
  const change = useCallback((next?: string) => setParams({ [name]: next }), [name]);
  return [value, change];
}

/** One field of the address that is one of a few words; anything else counts as `fallback`. */
export function useChoice<T extends string>(
  name: string,
  words: readonly T[],
  fallback: T,
): [T, (value: T) => void] {
  const [value, setValue] = useParam(name);
  const chosen = words.find((word) => word === value) ?? fallback;
  const change = useCallback(
    (next: T) => setValue(next === fallback ? undefined : next),
    [setValue, fallback],
  );
  return [chosen, change];
}

function go(href: string, replace: boolean): void {
  const { pathname, search } = window.location;
  if (href === `${pathname}${search}`) return;
  if (replace) window.history.replaceState(window.history.state, "", href);
  else window.history.pushState(null, "", href);
  for (const tell of listeners) tell();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("popstate", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("popstate", listener);
  };
}
