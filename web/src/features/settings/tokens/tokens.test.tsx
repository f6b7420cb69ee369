import { fireEvent, screen, within } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { done, fakeServer, ok, refuse, SESSION } from "../../../../tests/fakeServer";
import { renderPart } from "../../../../tests/renderPart";
import type { AgentToken } from "../../../api/types";
import { ConfirmHost } from "../../../change/confirm";
import { TokensSection } from "./TokensSection";
import { createCli, EMPTY_TOKEN, purposeOf, stateOf, tokenOf } from "./tokens";

const token = (name: string, more: Partial<AgentToken> = {}): AgentToken => ({
  id: `id-${name}`,
  name,
  prefix: `godel_at_${name}`,
  userId: SESSION.userId,
  models: [],
  createdAt: "2026-11-15T10:00:00Z",
  ...more,
});

const page = (items: unknown[]) => ok({ items, pagination: { hasMore: false } });
const routes = (items: AgentToken[]) => ({
  "GET /api/v1/agent-tokens?limit=100": () => page(items),
  "GET /api/v1/projects?limit=100": () => page([]),
  "GET /api/v1/users?limit=100": () => page([]),
  "GET /api/v1/agents?limit=1000": () => page([{ id: "a-7", label: "worker-7" }]),
});

const show = (session = SESSION) =>
  renderPart(
    <>
      <TokensSection />
      <ConfirmHost />
    </>,
    session,
  );

beforeEach(() => {
  window.history.replaceState(null, "", "/dashboard/settings/tokens");
  sessionStorage.clear();
  // A table draws what is in view, and here nothing has a height.
  Object.defineProperty(HTMLElement.prototype, "clientHeight", { configurable: true, value: 800 });
});

describe("tokens for models", () => {
  it("G12 those that work are listed, and on demand those that have ended", async () => {
    fakeServer(
      routes([
        token("old", { expiresAt: "2020-01-01T00:00:00Z" }),
        token("gone", { revokedAt: "2026-11-15T11:00:00Z" }),
        token("laptop", { agent: "builder-1", models: ["claude-*"] }),
        token("of an agent", { agent: "a-7" }),
      ]),
    );
    show();
    const row = await screen.findByRole("row", { name: /laptop/ });
    within(row).getByText("agent builder-1");
    within(row).getByText("claude-*");
    expect(screen.queryByRole("row", { name: /gone/ })).toBeNull();
    fireEvent.change(screen.getByLabelText("Which tokens"), { target: { value: "all" } });
    within(await screen.findByRole("row", { name: /gone/ })).getByText("revoked");
    screen.getByText("4 tokens");
    await screen.findByText("agent worker-7");
  });

  it("G12 a token is made of what was said, and shown once", async () => {
    const calls = fakeServer({
      ...routes([]),
      "POST /api/v1/agent-tokens": () => ok({ ...token("laptop"), token: "godel_at_secret" }),
    });
    show();
    fireEvent.click(await screen.findByRole("button", { name: "Create the first token" }));
    const fill = (label: string, value: string) =>
      fireEvent.change(screen.getByLabelText(label), { target: { value } });
    fill("Name", "laptop");
    fill("It may spend in all, in dollars", "many");
    screen.getByText("Write dollars, such as 5.");
    fill("It may spend in all, in dollars", "2.5");
    fill("Only these models", "claude-*, gpt-*");
    fill("It ends", "");
    fireEvent.click(screen.getByRole("button", { name: "Create the token" }));
    await screen.findByText("godel_at_secret");
    expect(calls.find(({ method }) => method === "POST")?.body).toEqual({
      name: "laptop",
      models: ["claude-*", "gpt-*"],
      budgetMicros: 2_500_000,
    });
    fireEvent.click(screen.getByRole("button", { name: "I have kept it" }));
    expect(screen.queryByText("godel_at_secret")).toBeNull();
  });

  it("a token that the server does not revoke works again on the page", async () => {
    const all = [token("laptop")];
    let isRefused = true;
    const calls = fakeServer({
      ...routes(all),
      "DELETE /api/v1/agent-tokens/id-laptop": () =>
        isRefused ? refuse(503, "busy", "the database is busy") : done(),
    });
    show();
    const ask = async () => {
      const button = { name: "Do something with the token laptop" };
      fireEvent.click(await screen.findByRole("button", button));
      fireEvent.click(screen.getByRole("menuitem", { name: /^Revoke/ }));
      fireEvent.click(await screen.findByRole("button", { name: "Revoke it" }));
    };
    await ask();
    await expect.poll(() => calls.filter(({ method }) => method === "DELETE").length).toBe(1);
    await screen.findByText("works");
    isRefused = false;
    all[0] = token("laptop", { revokedAt: "2026-11-15T11:00:00Z" });
    await ask();
    await screen.findByText("revoked");
  });

  it("G14 whoever may start no agents is told so, and nothing is asked", async () => {
    const calls = fakeServer(routes([]));
    show({ ...SESSION, role: "viewer", permissions: ["agent:read:team"] });
    await screen.findAllByText(/needs agent:create:own/);
    expect(calls.filter(({ path }) => path.includes("agent-tokens"))).toEqual([]);
  });

  it("says what it is for, and the same on the command line", () => {
    const now = Date.parse("2026-11-15T12:00:00Z");
    expect(stateOf(token("a", { expiresAt: "2026-11-15T12:00:00Z" }), now)).toBe("ended");
    expect(stateOf(token("a", { expiresAt: "2026-11-15T12:00:01Z" }), now)).toBe("works");
    const purpose = purposeOf(
      token("a", { projectId: "p", bead: "web-1" }),
      (kind) => `my ${kind}`,
    );
    expect(purpose).toBe("project my project, bead web-1");
    const values = { ...EMPTY_TOKEN, name: "my ci", models: "a b", budget: "$5", ends: "8h" };
    expect(createCli(values, "web")).toBe(
      "godel token create 'my ci' --project web --models 'a,b' --budget 5 --expires 8h",
    );
    const ends = Date.parse(tokenOf(values).expiresAt ?? "") - Date.now();
    expect(Math.abs(ends - 8 * 3_600_000)).toBeLessThan(60_000);
  });
});
