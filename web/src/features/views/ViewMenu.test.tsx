import { QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
import { done, fakeServer, ok, refuse, SESSION } from "../../../tests/fakeServer";
import type { SaveView, Session, View } from "../../api/types";
import { Toaster } from "../../change/Toaster";
import { newQueryClient } from "../../queryClient";
import { SessionProvider } from "../../roles/session";
import { ViewMenu } from "./ViewMenu";

const FIELDS = ["q", "group"];
const BUILT_IN = [
  ["Everything", ""],
  ["Blocked", "q=blocked%3Ayes"],
] as const;

function fakeView(special: Partial<View> = {}): View {
  return {
    id: "v1",
    page: "beads",
    name: "Mine",
    query: "q=agent%3Ame",
    shared: false,
    isOwn: true,
    createdAt: "2026-11-15T10:00:00Z",
    updatedAt: "2026-11-15T10:00:00Z",
    ...special,
  };
}

/** A server that keeps views, and the menu of a page at an address. */
function show(search: string, kept: View[], session: Partial<Session> = {}) {
  let views = kept;
  const calls = fakeServer({
    "GET /api/v1/views": () => ok({ items: views }),
    "POST /api/v1/views": ({ body }) => {
      const wanted = body as SaveView;
      if (views.some(({ name }) => name === wanted.name)) {
        return refuse(
          400,
          "invalid_field",
          `you have a view "${wanted.name}" of this page already`,
        );
      }
      const made = fakeView({ ...wanted, id: `v${views.length + 1}` });
      views = [...views, made];
      return ok(made);
    },
    "PUT /api/v1/views/v1": ({ body }) => {
      views = views.map((view) => (view.id === "v1" ? { ...view, ...(body as SaveView) } : view));
      return ok(views[0]);
    },
    "DELETE /api/v1/views/v1": () => {
      views = views.filter(({ id }) => id !== "v1");
      return done();
    },
  });
  window.history.replaceState(null, "", `/dashboard/beads${search}`);
  render(
    <QueryClientProvider client={newQueryClient()}>
      <SessionProvider value={{ ...SESSION, ...session }}>
        <ViewMenu page="beads" fields={FIELDS} builtIn={BUILT_IN} />
        <Toaster />
      </SessionProvider>
    </QueryClientProvider>,
  );
  const user = userEvent.setup();
  const open = async (name: string | RegExp = /^Views/) =>
    user.click(await screen.findByRole("button", { name }));
  const sent = (method: string) =>
    calls.filter((call) => call.method === method).map(({ body }) => body);
  return { user, open, sent, names: () => views.map(({ name }) => name) };
}

const choose = (name: string | RegExp) => screen.findByRole("menuitem", { name });
const lines = async () =>
  (await screen.findAllByRole("menuitemradio")).map((one) => one.textContent);

beforeEach(() => localStorage.clear());

describe("the menu of views", () => {
  it("lists what is built in, one's own and what others share, and shows one by a click", async () => {
    const { user, open } = show("?peek=x", [
      fakeView({ query: "q=agent:me" }),
      fakeView({ id: "v2", name: "Ours", isOwn: false, shared: true, query: "group=status" }),
      fakeView({ id: "v3", name: "Elsewhere", page: "agents" }),
    ]);
    await open("Views: Everything");
    await waitFor(async () =>
      expect(await lines()).toEqual(["Everything", "Blocked", "Mine", "Ours"]),
    );
    await user.click(screen.getByRole("menuitemradio", { name: "Mine" }));
    expect(window.location.search).toBe("?peek=x&q=agent%3Ame&saved=v1");
    await open("Views: Mine");
    expect(screen.getByRole("menuitemradio", { name: "Mine" }).getAttribute("aria-checked")).toBe(
      "true",
    );
    await user.click(screen.getByRole("menuitemradio", { name: "Everything" }));
    expect(window.location.search).toBe("?peek=x");
  });

  it("keeps what the address shows under a name, with the command that does the same", async () => {
    const { user, open, sent } = show("?q=label%3Ait%27s&peek=x", [fakeView()]);
    await open("Views");
    await user.click(await choose(/^Save this view…/));
    await user.type(screen.getByLabelText("Name"), "Mine");
    await user.click(screen.getByRole("checkbox", { name: "Share with everybody" }));
    screen.getByText("godel view save Mine 'label:it'\\''s' --shared");
    await user.click(screen.getByRole("button", { name: "Save" }));
    const refusal = await screen.findByText(/^You have a view "Mine" of this page already/);
    expect(screen.getByLabelText("Name").getAttribute("aria-describedby")).toBe(
      refusal.getAttribute("id"),
    );
    await user.type(screen.getByLabelText("Name"), " too");
    await user.click(screen.getByRole("button", { name: "Save" }));
    await open("Views: Mine too");
    expect(sent("POST").at(-1)).toEqual({
      page: "beads",
      name: "Mine too",
      query: "q=label%3Ait%27s",
      shared: true,
    });
  });

  it("updates, renames and forgets what was opened, and takes that back", async () => {
    const { user, open, sent, names } = show("?q=other&saved=v1", [fakeView()]);
    await open("Views: Mine (changed)");
    await user.click(await choose(/^Update “Mine”/));
    await open("Views: Mine");
    expect(sent("PUT")).toEqual([{ page: "beads", name: "Mine", query: "q=other", shared: false }]);
    await user.click(await choose("Rename or share…"));
    await user.clear(screen.getByLabelText("Name"));
    await user.type(screen.getByLabelText("Name"), "Yours{Enter}");
    await open("Views: Yours");
    await user.click(await choose(/^Forget “Yours”/));
    await screen.findByRole("button", { name: "Views" });
    await waitFor(() => expect(names()).toEqual([]));
    await screen.findByText("The view “Yours” is forgotten");
    const [undo] = screen.getAllByRole("button", { name: "Undo" }).toReversed();
    await user.click(undo as HTMLElement);
    await waitFor(() => expect(names()).toEqual(["Yours"]));
  });

  it("G14 who only watches keeps views, but does not share or forget those of others", async () => {
    const shared = fakeView({ name: "Ours", isOwn: false, shared: true });
    const watcher = { role: "viewer", permissions: ["bead:read:team"] };
    const { user, open } = show("?q=agent%3Ame", [shared], watcher);
    await open("Views: Ours");
    const forget = await choose(/^Forget “Ours”/);
    expect(forget.getAttribute("aria-disabled")).toBe("true");
    expect(forget.textContent).toContain("it needs user:update:team");
    await user.keyboard("{Escape}");
    window.history.replaceState(null, "", "?q=new");
    window.dispatchEvent(new PopStateEvent("popstate"));
    await open("Views");
    await user.click(await choose(/^Save this view…/));
    const share = screen.getByRole<HTMLInputElement>("checkbox", { name: "Share with everybody" });
    expect(share.disabled).toBe(true);
    screen.getByText(/it needs bead:create:own/);
  });

  it("moves what the browser kept to the server, and loses nothing of it", async () => {
    const old = [{ q: "agent:me" }, { q: "mine", group: "status" }, { q: "Mine" }];
    localStorage.setItem("godel.beads.views", JSON.stringify(old));
    const { user, open, sent } = show("", [fakeView()]);
    await open("Views: Everything");
    await waitFor(async () =>
      expect(await lines()).toEqual([
        "Everything",
        "Blocked",
        "Mine",
        "agent:me",
        "mine, grouped by status",
        "Mine",
      ]),
    );
    await user.click(await choose("Move 3 views of this browser to the server"));
    await waitFor(() => expect(localStorage.getItem("godel.beads.views")).toBe("[]"));
    expect(sent("POST")).toEqual([
      { page: "beads", name: "mine, grouped by status", query: "q=mine&group=status" },
      { page: "beads", name: "Mine 2", query: "q=Mine" },
    ]);
  });
});
