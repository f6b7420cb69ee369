import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { ReactNode } from "react";
import { describe, expect, it } from "vitest";
import { fakeAgent } from "../../tests/fakeAgent";
import { fakeServer, ok, SESSION } from "../../tests/fakeServer";
import { defineAction, useAction } from "../actions/actions";
import type { Agent } from "../api/types";
import { newQueryClient } from "../queryClient";
import { SessionProvider } from "../roles/session";
import { Palette } from "./Palette";

const MERGE = defineAction({ id: "test.merge", scope: "test", title: "Merge it" });
const KEPT = { id: "agent a1", title: "worker-1", to: "/agents/a1" };

function MergePage() {
  useAction(MERGE, () => undefined);
  return null;
}

const page = (items: readonly unknown[], cursor?: string) => () =>
  ok({ items, pagination: { cursor, hasMore: cursor !== undefined } });

/** The palette of somebody with these agents, the newest first. */
function show(agents: readonly Agent[], behind?: ReactNode) {
  const half = agents.length / 2;
  const searched = (text: string) =>
    `GET /api/v1/beads?${new URLSearchParams({ limit: "100", filter: JSON.stringify({ search: text }) })}`;
  const typed = ["worker-7", "app-77", "a7"];
  const words = typed.flatMap((text) => Array.from(text, (_, at) => text.slice(0, at + 1)));
  fakeServer({
    "GET /api/v1/agents?limit=1000": page(agents.slice(0, half), "more"),
    "GET /api/v1/agents?limit=1000&cursor=more": page(agents.slice(half)),
    "GET /api/v1/convoys?limit=1000": page([]),
    "GET /api/v1/reviews?limit=100": page([]),
    "GET /api/v1/views": page([]),
    ...Object.fromEntries(words.map((text) => [searched(text), page([])])),
  });
  render(
    <QueryClientProvider client={newQueryClient()}>
      <SessionProvider value={SESSION}>
        {behind}
        <Palette onClose={() => {}} />
      </SessionProvider>
    </QueryClientProvider>,
  );
  return userEvent.setup();
}

describe("the palette", () => {
  const agents = Array.from({ length: 400 }, (_, at) =>
    fakeAgent({ id: `a${399 - at}`, label: `worker-${399 - at}`, bead: `app-${399 - at}` }),
  );

  it("G15 remembers what was found and opened, though nothing is typed any more", async () => {
    localStorage.removeItem("godel.palette.recent");
    const user = show(agents);
    await user.type(screen.getByRole("combobox"), "worker-7");
    await waitFor(() =>
      expect(screen.queryAllByRole("option")[0]?.textContent).toContain("worker-7Say"),
    );
    await user.type(screen.getByRole("combobox"), "{Enter}");
    expect(window.location.pathname).toBe("/dashboard/agents/a7");
    cleanup();
    window.history.replaceState(null, "", "/dashboard/");
    const again = show(agents);
    expect(screen.getByText("Recent")).toBeDefined();
    expect(screen.getAllByRole("option")[0]?.textContent).toContain("worker-7");
    await again.type(screen.getByRole("combobox"), "{Enter}");
    expect(window.location.pathname).toBe("/dashboard/agents/a7");
  });

  it("G15 what this page can do stands above what was used lately", () => {
    localStorage.setItem("godel.palette.recent", JSON.stringify([KEPT, { id: MERGE.id }]));
    show([], <MergePage />);
    const [first, second] = screen.getAllByRole("option").map(({ textContent }) => textContent);
    expect(first).toContain("Merge it");
    expect(second).toContain("worker-1");
    expect(screen.getAllByText("Merge it")).toHaveLength(1);
    localStorage.removeItem("godel.palette.recent");
  });

  it("G15 reads what earlier versions remembered", () => {
    localStorage.setItem("godel.palette.recent", JSON.stringify(["agent a3", "go.agents"]));
    show(agents);
    expect(screen.queryByText("Recent")).toBeNull();
  });

  it("G15 finds the oldest agent as well as the newest, by name, bead or id", async () => {
    const user = show(agents);
    const field = screen.getByRole("combobox");
    const best = () => screen.queryAllByRole("option")[0]?.textContent;
    await user.type(field, "worker-7");
    await waitFor(() => expect(best()).toContain("worker-7Say hello"));
    await user.clear(field);
    await user.type(field, "app-77");
    await waitFor(() => expect(best()).toContain("worker-77"));
    await user.clear(field);
    await user.type(field, "a7");
    await waitFor(() => expect(best()).toContain("worker-7Say hello"));
  });
});
