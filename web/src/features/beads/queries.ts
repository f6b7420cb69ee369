import { type QueryClient, type QueryKey, queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { get } from "../../api/client";
import { type Listing, list, MOST } from "../../api/list";
import { queryOf } from "../../api/query";
import type { Bead, Convoy, ReviewRow } from "../../api/types";
import { onLiveItems, refOf } from "../../realtime/items";
import { onLive } from "../../realtime/rules";
import { BeadGraph } from "./graph";
import { STATUSES } from "./looks";
import { type Coming, readWork } from "./waiting";

export const BEAD_LISTS = ["beads"] as const;
export const beadKey = (id: string) => ["bead", id] as const;
const logKey = (id: string) => ["bead-log", id] as const;
const USAGE = ["bead-costs"] as const;
const SESSIONS = ["bead-sessions"] as const;
const REVIEWS = ["bead-reviews"] as const;
/** Before this there was no Godel: costs are counted from the beginning. */
const BEGINNING = "2020-01-01";
/** Of so much work the size is read for cards and panels. */
export const MOST_REVIEWS = 200;

/** The address of a bead, or of something of it. */
export function beadPath<const Tail extends string = "">(
  bead: { id: string; projectId?: string },
  tail = "" as Tail,
  fields: Record<string, string> = {},
) {
  const query = queryOf({ ...(bead.projectId && { projectId: bead.projectId }), ...fields });
  return `/api/v1/beads/${encodeURIComponent(bead.id)}${tail}${query}` as const;
}

/** What waits to be reviewed, by bead; and whether there may be more. */
interface Waiting {
  rows: Readonly<Record<string, ReviewRow>>;
  isCut: boolean;
}

export const beadQueries = {
  /** All beads of a project, or of all; those that are done as well: others may wait on them. */
  all: (projectId?: string) => {
    const queryKey = [...BEAD_LISTS, { projectId }];
    return queryOptions({
      queryKey,
      queryFn: async ({ client }): Promise<Listing<Bead>> => {
        const { most = MOST } = client.getQueryData<Listing<Bead>>(queryKey) ?? {};
        const listing = await list("/api/v1/beads", {
          filter: { projectId, status: STATUSES },
          most,
          onPart: (items) => showPart(client, queryKey, items),
        });
        return { ...listing, most, items: once(listing.items) };
      },
    });
  },
  /** The beads of one convoy, for who wants to see them before all others are here; not kept any longer. */
  inConvoy: ({ id, projectId }: Pick<Convoy, "id" | "projectId">) =>
    queryOptions({
      queryKey: ["beads-of-convoy", { id, projectId }],
      queryFn: () => list("/api/v1/beads", { filter: { convoy: id, projectId, status: STATUSES } }),
      gcTime: 0,
    }),
  one: (id: string) =>
    queryOptions({ queryKey: beadKey(id), queryFn: () => get(beadPath({ id })) }),
  log: (id: string) =>
    queryOptions({
      queryKey: logKey(id),
      queryFn: () => get(beadPath({ id }, "/log")),
    }),
  /** Agents that work or worked on a bead. */
  agents: (bead: string) =>
    queryOptions({
      queryKey: [...SESSIONS, "agents", bead],
      queryFn: () => list("/api/v1/agents", { filter: { bead } }),
    }),
  sessions: ({ id, projectId }: { id: string; projectId?: string }) =>
    queryOptions({
      queryKey: [...SESSIONS, "talks", projectId, id],
      queryFn: () => list("/api/v1/sessions", { filter: { bead: id, projectId } }),
    }),
  /** What each bead has cost, in millionths of a dollar. */
  costs: () =>
    queryOptions({
      queryKey: USAGE,
      queryFn: async () => {
        const path = `/proxy/v1/usage?groupBy=bead&from=${BEGINNING}` as const;
        const { rows } = await get(path);
        return new Map(rows.map(({ group, costMicros }) => [group.bead ?? "", costMicros]));
      },
    }),
  /** What waits to be reviewed or is worked on, of a project or of all: how large it is, and what the gates say. */
  reviews: (projectId?: string, status: Coming = "review") =>
    queryOptions({
      queryKey: [...REVIEWS, { projectId, status }],
      queryFn: async (): Promise<Waiting> => {
        const { items, isCut } = await readWork(MOST_REVIEWS, { projectId, status });
        // A plain object, so that rows that are as they were stay the same, and so do the cards that show them.
        return { rows: Object.fromEntries(items.map((row) => [row.bead, row])), isCut };
      },
    }),
  /** The same of one bead, for who does not find it among those. */
  review: ({ id, projectId }: Pick<Bead, "id" | "projectId">) =>
    queryOptions({
      queryKey: [...REVIEWS, "one", { id, projectId }],
      queryFn: (): Promise<ReviewRow> =>
        get(`/api/v1/reviews/${encodeURIComponent(id)}${queryOf({ projectId })}`),
    }),
};

/** A bead that changes places while pages are read can be on two of them; the later one is newer. */
function once(beads: readonly Bead[]): Bead[] {
  return [...new Map(beads.map((bead) => [bead.id, bead])).values()];
}

/** Reads so many more beads than the page has now; events and later readings keep to it. */
export function readMore(client: QueryClient, projectId: string | undefined): Promise<void> {
  const { queryKey } = beadQueries.all(projectId);
  client.setQueryData<Listing<Bead>>(
    queryKey,
    (listing) => listing && { ...listing, most: (listing.most ?? MOST) + MOST },
  );
  return client.refetchQueries({ queryKey, exact: true });
}

/** Who opens the page sees the first beads at once; who has a whole list keeps it until the new one is here. */
function showPart(client: QueryClient, queryKey: QueryKey, items: readonly Bead[]): void {
  client.setQueryData<Listing<Bead>>(queryKey, (before) =>
    before === undefined || before.isPart
      ? { items: once(items), isCut: false, isPart: true }
      : before,
  );
}

onLiveItems<Bead>({
  on: ["bead:*"],
  ref: "beadId",
  idOf: (bead) => bead.id,
  read: (id) => get(beadPath({ id })),
  lists: BEAD_LISTS,
  single: beadKey,
});
onLive({
  on: "bead:*",
  invalidate: (event) => {
    const id = refOf(event, "beadId");
    return id === undefined ? [] : [logKey(id)];
  },
});
// Gates are run after the commit that they judge.
onLive({
  on: ["bead:moved", "bead:judged", "review:*", "agent:commit"],
  invalidate: () => [REVIEWS],
});
onLive({ on: ["agent:state", "agent:spawn"], invalidate: () => [SESSIONS], everyMs: 2_000 });
onLive({ on: ["agent:usage", "usage:*"], invalidate: () => [USAGE], everyMs: 5_000 });

const NONE: readonly Bead[] = [];

/** All beads and what depends on what; while the list is only a part of them, with those that came `early`. */
export function useBeads(projectId?: string, early = NONE) {
  const query = useQuery(beadQueries.all(projectId));
  const { data } = query;
  const items = useMemo(
    () => (data?.isPart && early.length > 0 ? once([...early, ...data.items]) : data?.items),
    [data, early],
  );
  const graph = useMemo(() => new BeadGraph(items ?? []), [items]);
  return { query, graph, beads: items ?? NONE };
}

/** What the server finds for a query; for stores with more beads than a page reads. */
export function useFound(
  projectId: string | undefined,
  query: string,
  enabled: boolean,
): Listing<Bead> | undefined {
  const { data } = useQuery({
    queryKey: [...BEAD_LISTS, { projectId, query }],
    queryFn: () => list("/api/v1/beads", { filter: { status: STATUSES, query, projectId } }),
    enabled,
  });
  return enabled ? data : undefined;
}
