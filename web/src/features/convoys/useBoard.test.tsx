import { QueryClientProvider } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { createRoot } from "react-dom/client";
import { describe, expect, it, vi } from "vitest";
import { newQueryClient } from "../../queryClient";
import { bead } from "../beads/fakeBead";
import { beadQueries } from "../beads/queries";
import { useBoard } from "./useBoard";

const VIEW = { projectId: undefined, only: undefined, hasDropped: false, hasArchived: false };
/** Longer than React works on what is deferred without looking whether there is something else to do. */
const WORK_MS = 8;
/** So many events in a row, and the filter still not shown: that is never. */
const ENOUGH = 300;

/** Data that change whenever the page is about to draw what was filtered. */
class Events {
  count = 0;
  #listeners = new Set<() => void>();

  subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  happen(): void {
    this.count += 1;
    for (const tell of this.#listeners) tell();
  }
}

function Counter({ events }: { events: Events }) {
  return useSyncExternalStore(events.subscribe, () => events.count);
}

function work(): void {
  for (const end = performance.now() + WORK_MS; performance.now() < end; );
}

/** A part of the board that takes long to draw when the filter is another; an event comes each time. */
function Part({ ids, events }: { ids: string; events?: Events }) {
  if (ids !== "a b") {
    work();
    if (events && events.count < ENOUGH) queueMicrotask(() => events.happen());
  }
  return <p>{ids}</p>;
}

function Board({ text, events }: { text: string; events: Events }) {
  const { shown } = useBoard({ ...VIEW, text, lanes: "none" });
  const ids = shown.map(({ id }) => id).join(" ");
  return (
    <>
      <Counter events={events} />
      <Part ids={ids} events={events} />
      <Part ids={ids} />
    </>
  );
}

describe("a board that is filtered", () => {
  it("G7 follows what is typed though data change all the time", async () => {
    // As in a browser: what is deferred gives way to everything else.
    vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", false);
    const client = newQueryClient();
    client.setQueryData(beadQueries.all().queryKey, {
      items: [bead("a"), bead("b")],
      isCut: false,
    });
    client.setQueryData(["convoys", { projectId: undefined }], { items: [], isCut: false });
    const events = new Events();
    const box = document.createElement("div");
    const root = createRoot(box);
    const show = (text: string) =>
      root.render(
        <QueryClientProvider client={client}>
          <Board text={text} events={events} />
        </QueryClientProvider>,
      );
    const isShown = (ids: string) => expect(box.querySelector("p")?.textContent).toBe(ids);
    show("");
    await vi.waitFor(() => isShown("a b"));
    show("a");
    await vi.waitFor(() => isShown("a"), { timeout: 20_000 });
    expect(events.count).toBeGreaterThan(1);
    expect(events.count).toBeLessThan(ENOUGH);
    root.unmount();
  });
});
