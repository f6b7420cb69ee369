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
const MOST_SINGLE = 20;

/** The id that an event says it belongs to. */
export function refOf(event: GodelEvent, name: string): string | undefined {
  return event.metadata[name];
}

/**
 * Keeps lists up to date item by item: an event only says which item changed, and that one is read
 * again. Many events about one item cost one request.
 */
export function onLiveItems<T>(items: LiveItems<T>): () => void {
  let ids = new Set<string>();
  let isWaiting = false;
  const flush = async (client: QueryClient) => {
    isWaiting = false;
    const changed = ids;
    ids = new Set();
    if (changed.size > MOST_SINGLE) {
      client.invalidateQueries({ queryKey: items.lists });
      return;
    }
    await Promise.all([...changed].map((id) => refresh(client, items, id)));
  };
  return onLive({
    on: items.on,
    patch: (client, events) => {
      for (const event of events) {
        const id = refOf(event, items.ref);
        if (id !== undefined && !items.except?.includes(event.type)) ids.add(id);
      }
      if (ids.size === 0 || isWaiting) return;
      isWaiting = true;
      setTimeout(() => flush(client), COLLECT_MS);
    },
  });
}

async function refresh<T>(client: QueryClient, items: LiveItems<T>, id: string): Promise<void> {
  let item: T | undefined;
  try {
    item = await items.read(id);
  } catch {
    // Gone, or the server is: either way only the list knows, and it is asked.
    client.invalidateQueries({ queryKey: items.lists });
    return;
  }
  const fresh = item;
  client.setQueriesData<Listing<T>>({ queryKey: items.lists }, (listing) =>
    listing ? put(listing, fresh, items.idOf) : listing,
  );
  if (items.single) client.setQueryData(items.single(id), fresh);
}

/** Puts an item into its place; a new one comes first. */
export function put<T>(listing: Listing<T>, item: T, idOf: (item: T) => string): Listing<T> {
  const at = listing.items.findIndex((one) => idOf(one) === idOf(item));
  if (at < 0) return { ...listing, items: [item, ...listing.items] };
  return { ...listing, items: listing.items.with(at, item) };
}
