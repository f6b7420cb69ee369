import { useQueryClient } from "@tanstack/react-query";
import { ApiError } from "../../api/client";
import type { View } from "../../api/types";
import { toast } from "../../change/toasts";
import { tellRefusal } from "../../change/useChange";
import { plural } from "../../ui/format";
import { useStored } from "../../ui/useStored";
import { type Fields, normal } from "./address";
import { saveView, viewsQuery } from "./queries";

/** A view as browsers kept it before the server did: fields of the address. */
export type BrowserView = Readonly<Record<string, string>>;

/** The longest name that the server takes. */
const NAME_MAX = 80;

/** What a view without a name is called. */
export function nameOf({ q, view, by, group, sort }: BrowserView): string {
  const words = [
    q,
    view,
    by && `by ${by}`,
    group && `grouped by ${group}`,
    sort && `sorted by ${sort}`,
  ];
  return words.filter(Boolean).join(", ");
}

/** A name that is free and short enough. */
export function freeName(wanted: string, taken: readonly string[]): string {
  const all = new Set(taken.map((name) => name.toLowerCase()));
  for (let number = 1; ; number += 1) {
    const tail = number === 1 ? "" : ` ${number}`;
    const name = `${[...wanted]
      .slice(0, NAME_MAX - tail.length)
      .join("")
      .trim()}${tail}`;
    if (!all.has(name.toLowerCase())) return name;
  }
}

/**
 * Views that only this browser knows, and the way to the server. One goes from here when the
 * server has it, so that nothing is lost however it ends.
 */
export function useBrowserViews(page: string, fields: Fields, kept: readonly View[]) {
  const client = useQueryClient();
  const [stored, setStored] = useStored<readonly BrowserView[]>(`${page}.views`, []);
  const views = Array.isArray(stored) ? stored : [];
  const move = async () => {
    const own = kept.filter((view) => view.isOwn && view.page === page);
    const taken = own.map(({ name }) => name);
    const known = new Set(own.map(({ query }) => normal(query, fields)));
    let rest = views;
    try {
      for (const view of views) {
        const query = normal(new URLSearchParams(view).toString(), fields);
        const name = freeName(nameOf(view) || "Everything", taken);
        if (!known.has(query)) await saveView({ page, name, query });
        taken.push(name);
        known.add(query);
        rest = rest.filter((one) => one !== view);
        setStored(rest);
      }
      toast({ title: `${plural(views.length, "view")} moved to the server` });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      tellRefusal("Move the views of this browser to the server", error, move);
    } finally {
      client.invalidateQueries({ queryKey: viewsQuery.queryKey });
    }
  };
  return { views, move };
}
