import { getAt } from "./client";
import type { ItemOf, Listed } from "./routes";

/** One page of a list, as the server gives it. */
interface Page<T> {
  items: T[];
  pagination: { cursor?: string | null; hasMore: boolean };
}

/** A whole list, and whether there is more than was asked for. */
export interface Listing<T> {
  items: T[];
  isCut: boolean;
  /** How many are enough, if that is not what is usual. */
  most?: number;
  /** The rest is still on its way. */
  isPart?: boolean;
}

interface ListOptions<T> {
  /** Fields that items must have; of several values any will do. */
  filter?: Readonly<Record<string, string | readonly string[] | undefined>>;
  sort?: string;
  /** How many are enough. */
  most?: number;
  /** Told what is there after each page but the last, for who shows a long list before its end is here. */
  onPart?: (items: readonly T[]) => void;
}

/** The most that the server puts on one page; of what people look at as a whole, more. */
const PAGE = 100;
const LONG_PAGE = 1_000;
const LONG = new Set(["/api/v1/agents", "/api/v1/beads", "/api/v1/convoys"]);
/** What a page of the dashboard reads at once; who wants more has to ask for it. */
export const MOST = 10_000;

/** Reads a list to its end, or until there are enough. */
export async function list<const P extends string>(
  path: Listed<P>,
  { filter = {}, sort, most = MOST, onPart }: ListOptions<ItemOf<P>> = {},
): Promise<Listing<ItemOf<P>>> {
  const fields = new URLSearchParams({ limit: String(Math.min(pageOf(path), most)) });
  const wanted = Object.entries(filter).filter(([, value]) => value !== undefined && value !== "");
  if (wanted.length > 0) fields.set("filter", JSON.stringify(Object.fromEntries(wanted)));
  if (sort) fields.set("sort", sort);
  const items: ItemOf<P>[] = [];
  for (;;) {
    const page = await getAt<Page<ItemOf<P>>>(`${path}?${fields}`);
    items.push(...page.items);
    const { cursor, hasMore } = page.pagination;
    if (!hasMore || !cursor) return { items, isCut: false };
    if (items.length >= most) return { items: items.slice(0, most), isCut: true };
    onPart?.(items);
    fields.set("cursor", cursor);
  }
}

function pageOf(path: string): number {
  return LONG.has(path) ? LONG_PAGE : PAGE;
}
