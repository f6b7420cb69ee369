/** Everything the dashboard shows lives under this path. */
export const BASE = "/dashboard";

/** Where the reader is: the path below `/dashboard`, and the fields behind the question mark. */
export interface Place {
  path: string;
  search: string;
}

/** Fields that stay in the address when the page changes. */
const STICKY = ["project"];

/** Reads a place from the browser's address. */
export function placeOf(location: { pathname: string; search: string }): Place {
  const path = location.pathname.startsWith(BASE)
    ? location.pathname.slice(BASE.length)
    : location.pathname;
  return { path: `/${path.replace(/^\/+|\/+$/g, "")}`, search: location.search };
}

/** The address of a place, such as `/dashboard/agents?status=busy`. */
export function hrefOf(to: string, here: Place): string {
  const [path = "", search = ""] = to.split("?", 2);
  const fields = new URLSearchParams(search);
  const known = new URLSearchParams(here.search);
  for (const name of STICKY) {
    const value = known.get(name);
    if (value !== null && !fields.has(name)) fields.set(name, value);
  }
  const query = fields.toString();
  return `${BASE}${path === "/" ? "/" : path}${query === "" ? "" : `?${query}`}`;
}

/**
 * What follows the path of a page, word by word: `["a1", "cost"]` for `/agents/a1/cost` of
 * `/agents`. Undefined if the place belongs to another page.
 */
export function restOf(path: string, page: string): string[] | undefined {
  if (page === "/") return path === "/" ? [] : undefined;
  if (path !== page && !path.startsWith(`${page}/`)) return undefined;
  const words = path.slice(page.length).split("/").filter(Boolean);
  return words.map(decodePart);
}

function decodePart(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
