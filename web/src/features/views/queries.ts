import { queryOptions } from "@tanstack/react-query";
import { get, post, put, remove } from "../../api/client";
import type { SaveView, View } from "../../api/types";
import { useChange } from "../../change/useChange";
import { onLive } from "../../realtime/rules";

/** All views that the caller keeps, and those that everybody has. */
export const viewsQuery = queryOptions({
  queryKey: ["views"],
  queryFn: () => get("/api/v1/views"),
});

onLive({ on: ["view:keep", "view:forget"], invalidate: () => [viewsQuery.queryKey] });

/** Keeps a view. What is wrong with it is told in the form, so the form sends it. */
export function saveView(view: SaveView): Promise<View> {
  return post("/api/v1/views", view);
}

/** Gives a view another name, or lets others have it. */
export function changeView(id: string, view: SaveView): Promise<View> {
  return put(viewPath(id), view);
}

const viewPath = (id: string) => `/api/v1/views/${encodeURIComponent(id)}` as const;

/** What is kept of a view, without what the server says about it. */
export function keptOf({ page, name, query, shared }: View): SaveView {
  return { page, name, query, shared };
}

interface Update {
  view: View;
  query: string;
}

/** Lets a view show something else. */
export function useUpdateView() {
  return useChange<Update, View>({
    what: ({ view }) => `Update the view “${view.name}”`,
    send: ({ view, query }) => changeView(view.id, { ...keptOf(view), query }),
    expect: (cache, { view, query }) =>
      cache.update<{ items: View[] }>(viewsQuery.queryKey, ({ items }) => ({
        items: items.map((one) => (one.id === view.id ? { ...one, query } : one)),
      })),
    settle: () => [viewsQuery.queryKey],
    done: ({ view }) => `The view “${view.name}” is updated`,
    undo: ({ view }) => changeView(view.id, keptOf(view)),
  });
}

/** Forgets a view. Another's would come back as one's own, so only one's own can be taken back. */
export function useForgetView({ isOwn }: { isOwn: boolean }) {
  return useChange<View, void>({
    what: (view) => `Forget the view “${view.name}”`,
    send: (view) => remove(viewPath(view.id)),
    expect: (cache, view) =>
      cache.update<{ items: View[] }>(viewsQuery.queryKey, ({ items }) => ({
        items: items.filter(({ id }) => id !== view.id),
      })),
    settle: () => [viewsQuery.queryKey],
    done: (view) => `The view “${view.name}” is forgotten`,
    ...(isOwn && { undo: (view: View) => saveView(keptOf(view)) }),
  });
}
