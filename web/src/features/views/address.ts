import { shellWord } from "../../ui/format";

/** What makes a view of a page: names of fields of the address. */
export type Fields = readonly string[];

/** A view that everybody has from the beginning. */
export type BuiltIn = readonly [title: string, query: string];

/** The field of the address that says which kept view was opened; it may have been changed since. */
export const OPENED = "saved";

/** The part of an address that makes a view: its fields in one order, and nothing else. */
export function queryOf(params: URLSearchParams, fields: Fields): string {
  const kept = new URLSearchParams();
  for (const name of fields) {
    const value = params.get(name);
    if (value) kept.set(name, value);
  }
  return kept.toString();
}

/** The same part of what was written elsewhere: other programs order and escape in their own way. */
export function normal(query: string, fields: Fields): string {
  return queryOf(new URLSearchParams(query), fields);
}

/** What to set in the address to show a view; fields that it has not are taken away. */
export function paramsOf(
  query: string,
  fields: Fields,
  opened?: string,
): Record<string, string | undefined> {
  const params = new URLSearchParams(query);
  const values = fields.map((name) => [name, params.get(name) ?? undefined] as const);
  return { ...Object.fromEntries(values), [OPENED]: opened };
}

/** The same on the command line, which keeps queries of beads. */
export function saveCli(
  page: string,
  { name, query, shared }: { name: string; query: string; shared: boolean },
): string | undefined {
  if (page !== "beads") return undefined;
  const text = new URLSearchParams(query).get("q") ?? "";
  const words = ["godel view save", shellWord(name || "NAME"), shellWord(text)];
  return [...words, ...(shared ? ["--shared"] : [])].join(" ");
}

/** Whether the command line would leave something of a view out. */
export function hasMoreThanQuery(query: string): boolean {
  return [...new URLSearchParams(query).keys()].some((name) => name !== "q");
}

/** Who has a view forgets it by its name; one of somebody else has only its id. */
export function deleteCli(view: { id: string; name: string; isOwn: boolean }): string {
  return `godel view delete ${view.isOwn ? shellWord(view.name) : view.id}`;
}
