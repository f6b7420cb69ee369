import { QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { fakeServer, ok, SESSION } from "../../../tests/fakeServer";
import { newQueryClient } from "../../queryClient";
import { SessionProvider } from "../../roles/session";
import { AgentRolesSection } from "./AgentRolesSection";
import { AuditSection } from "./AuditSection";
import { RoutingSection } from "./RoutingSection";
import { RuntimesSection } from "./RuntimesSection";

afterEach(() => vi.unstubAllGlobals());

const ROUTING = {
  prefer: "order",
  order: [],
  attempts: 1,
  firstByteSeconds: 1,
  idleSeconds: 1,
  aliases: [],
  fallbacks: [],
  hedges: [],
};

it.each([
  ["Audit", AuditSection, "/api/v1/audit", { items: [], pagination: { hasMore: false } }],
  ["Routing", RoutingSection, "/proxy/v1/routing", ROUTING],
  ["Runtimes", RuntimesSection, "/api/v1/runtimes", { items: [] }],
  ["Agent roles", AgentRolesSection, "/api/v1/roles", { items: [] }],
])("S1 %s is read again by whoever comes back to it", async (title, Part, path, answer) => {
  const query = path === "/api/v1/audit" ? "?limit=100" : "";
  const calls = fakeServer({ [`GET ${path}${query}`]: () => ok(answer) });
  const client = newQueryClient();
  const look = async (times: number) => {
    const { unmount } = render(
      <QueryClientProvider client={client}>
        <SessionProvider value={SESSION}>
          <Part />
        </SessionProvider>
      </QueryClientProvider>,
    );
    expect(await screen.findByRole("heading", { name: title })).toBeDefined();
    await expect.poll(() => calls.length).toBe(times);
    await expect.poll(() => client.isFetching()).toBe(0);
    unmount();
  };
  await look(1);
  await look(2);
});
