/** What comes behind a path; it says nothing about which route it is. */
export type Query = "" | `?${string}`;

/** Fields as they stand behind a path; nothing if there are none. */
export function queryOf(fields: Record<string, string>): Query {
  const search = new URLSearchParams(fields).toString();
  return search === "" ? "" : `?${search}`;
}
