import type { QueryClient, QueryKey } from "@tanstack/react-query";
import type { Listing } from "../api/list";
import type { GodelEvent } from "../api/types";
import { onLive } from "./rules";

interface LiveItems<T> {
  /** Types of events that are about an item, such as `agent:*`. */
  on: readonly string[];
  /** Types that are too many and change nothing that a list shows. */
  except?: readonly string[];
  /** The name of the reference that an event carries: `agentId`. */
  ref: string;
  idOf: (item: T) => string;
  /** Reads one item; a refusal means that it is gone. */
  read: (id: string) => Promise<T>;
  /** Lists (`Listing<T>`) whose keys begin so are kept up to date. */
  lists: QueryKey;
  /** The key of the single item. */
  single?: (id: string) => QueryKey;
}

/** How long events are collected before items are read again. */
const COLLECT_MS = 250;
/** More items than this at once: the whole list is read instead. */
const MOST_SINGLE = 500;
/** So many are read at the same time. */
const AT_ONCE = 6;

/** The id that an event says it belongs to. */
export function refOf(event: GodelEvent, name: string): string | undefined {
  return event.metadata[name];
}

/**
 * Keeps lists up to date item by item: an event only says which item changed, and that one is read
 * again. Many events about one item cost one request, and many items one change of the lists: what
 * an event costs must not grow with the length of a list. What nobody looks at is only marked as old.
 */
export function onLiveItems<T>(items: LiveItems<T>): () => void {
  let ids = new Set<string>();
  // What changed while a list was read: the answer may be older than the change.
  let passed = new Set<string>();
  let isWaiting = false;
  const flush = async (client: QueryClient) => {
    let changed = [...ids];
    ids = new Set();
    const isRead = client.isFetching({ queryKey: items.lists }) > 0;
    if (isRead) for (const id of changed) passed.add(id);
    else {
      changed = [...new Set([...passed, ...changed])];
      passed = new Set();
    }
    if (changed.length > MOST_SINGLE) await client.invalidateQueries({ queryKey: items.lists });
    else await refresh(client, items, changed);
    // A server that is slow is asked less often, with more in one go.
    if (ids.size > 0 || passed.size > 0) later(client);
    else isWaiting = false;
  };
  const later = (client: QueryClient) => {
    isWaiting = true;
    setTimeout(() => flush(client), COLLECT_MS);
  };
  return onLive({
    on: items.on,
    patch: (client, events) => {
      for (const event of events) {
        const id = refOf(event, items.ref);
        if (id !== undefined && !items.except?.includes(event.type)) ids.add(id);
      }
      if (ids.size > 0 && !isWaiting) later(client);
    },
  });
}

/** Reads the items that somebody looks at, and puts them into all lists at once. */
async function refresh<T>(
  client: QueryClient,
  items: LiveItems<T>,
  ids: readonly string[],
): Promise<void> {
  const isListed = client.getQueryCache().findAll({ queryKey: items.lists, type: "active" }).length;
  const isShown = (id: string) => items.single && isActive(client, items.single(id));
  const wanted = isListed ? ids : ids.filter(isShown);
  if (!isListed) client.invalidateQueries({ queryKey: items.lists, refetchType: "none" });
  const { found, hasGone } = await readAll(items, wanted);
  if (found.size > 0) {
    client.setQueriesData<Listing<T>>({ queryKey: items.lists }, (listing) =>
      listing ? putAll(listing, found, items.idOf) : listing,
    );
  }
  for (const id of items.single ? ids : []) settle(client, items, id, found.get(id));
  // Gone, or the server is: either way only the list knows, and it is asked.
  if (hasGone) await client.invalidateQueries({ queryKey: items.lists });
}

function settle<T>(client: QueryClient, items: LiveItems<T>, id: string, item: T | undefined) {
  const queryKey = items.single?.(id) ?? [];
  // What was never asked for is not kept: that would be a copy of every item that ever changed.
  if (client.getQueryState(queryKey) === undefined) return;
  if (item !== undefined) client.setQueryData(queryKey, item);
  else client.invalidateQueries({ queryKey, refetchType: "none" });
}

function isActive(client: QueryClient, queryKey: QueryKey): boolean {
  return client.getQueryCache().findAll({ queryKey, type: "active" }).length > 0;
}

/** Reads items, a few at a time. */
async function readAll<T>(items: LiveItems<T>, ids: readonly string[]) {
  const found = new Map<string, T>();
  let hasGone = false;
  const queue = [...ids];
  const worker = async () => {
    for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
      try {
        found.set(id, await items.read(id));
      } catch {
        hasGone = true;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { found, hasGone };
}

/** Puts items into their places, in one walk over the list; new ones come first. */
export function putAll<T>(
  listing: Listing<T>,
  fresh: ReadonlyMap<string, T>,
  idOf: (item: T) => string,
): Listing<T> {
  const left = new Map([...fresh.values()].map((item) => [idOf(item), item]));
  const items = listing.items.slice();
  for (let at = 0; at < items.length && left.size > 0; at += 1) {
    const id = idOf(items[at] as T);
    const item = left.get(id);
    if (item === undefined) continue;
    items[at] = item;
    left.delete(id);
  }
  return { ...listing, items: [...[...left.values()].toReversed(), ...items] };
}
