import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { SESSION } from "../../../../tests/fakeServer";
import type { Agent, Talk } from "../../../api/types";
import { SessionProvider } from "../../../roles/session";
import { type Nodes, sessionQueries } from "./queries";
import { SessionTree } from "./SessionTree";

const AGENT = { id: "a1", sessionId: "s1", label: "worker-1" } as Agent;
const TALK = {
  id: "s1",
  agentId: "a1",
  agent: "worker-1",
  bead: "app-1",
  status: "active",
  branch: "main",
  branches: { main: 1999 },
  saves: {},
  nodes: 2_000,
  createdAt: "2026-11-16T10:00:00Z",
} satisfies Talk;

function show() {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  const items = Array.from({ length: 2_000 }, (_, at) => ({
    number: at,
    parent: at === 0 ? null : at - 1,
    kind: at % 10 === 0 ? "user" : "call",
    text: `<b>${at}</b>`,
  }));
  client.setQueryData<Talk>(sessionQueries.talk(AGENT).queryKey, TALK);
  client.setQueryData<Nodes>(sessionQueries.nodes(AGENT).queryKey, { items, isCut: false });
  client.setQueryData(sessionQueries.snapshots.queryKey, { items: [], isCut: false });
  render(
    <QueryClientProvider client={client}>
      <SessionProvider value={SESSION}>
        <SessionTree agent={AGENT} />
      </SessionProvider>
    </QueryClientProvider>,
  );
}

const lines = () => screen.getByRole("list", { name: "Session tree" });

beforeEach(() => window.history.replaceState(null, "", "/dashboard/agents/worker-1"));

describe("the session tree", () => {
  it("X1 draws few of two thousand nodes, folded and unfolded", () => {
    show();
    expect(lines().getAttribute("data-lines")).toBe("401");
    expect(screen.getAllByRole("listitem").length).toBeLessThan(60);
    fireEvent.click(screen.getByRole("button", { name: "Unfold all" }));
    expect(lines().getAttribute("data-lines")).toBe("2000");
    expect(screen.getAllByRole("listitem").length).toBeLessThan(60);
  });

  it("X1 opens one fold by a click, and shows what was said as text", () => {
    show();
    fireEvent.click(screen.getAllByText(/^9 nodes in a row/)[0] as HTMLElement);
    expect(lines().getAttribute("data-lines")).toBe("409");
    expect(screen.getByText("<b>0</b>")).toBeTruthy();
  });
});
