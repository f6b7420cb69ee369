import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { done, fakeServer, HEALTH, nobody, ok, refuse, SESSION } from "../../../tests/fakeServer";
import { FakeWire } from "../../../tests/fakeWire";
import { renderApp } from "../../../tests/renderApp";

beforeEach(() => {
  FakeWire.all = [];
  vi.stubGlobal("WebSocket", FakeWire);
});

/** The home page with the menu open. */
async function openMenu(routes: Parameters<typeof fakeServer>[0] = {}) {
  const user = userEvent.setup();
  const calls = fakeServer({
    "GET /auth/me": () => ok(SESSION),
    "GET /health": () => ({ status: 200, body: HEALTH }),
    ...routes,
  });
  renderApp();
  const toggle = await screen.findByRole("button", { name: "Account: owner" });
  await user.click(toggle);
  return { user, calls, toggle, menu: screen.getByRole("region", { name: "Account" }) };
}

const isOpen = () => screen.queryByRole("region", { name: "Account" }) !== null;

describe("the account menu", () => {
  it("says who I am", async () => {
    const { menu, toggle } = await openMenu();
    expect(toggle.getAttribute("aria-expanded")).toBe("true");
    for (const part of ["owner", "admin", "acme"]) {
      expect(within(menu).getByText(part)).toBeTruthy();
    }
  });

  it("closes by Escape, by a click elsewhere and by leaving it", async () => {
    const { user, toggle } = await openMenu();
    await user.keyboard("{Escape}");
    expect(isOpen()).toBe(false);
    expect(document.activeElement).toBe(toggle);
    await user.click(toggle);
    await user.click(await screen.findByText("Events"));
    expect(isOpen()).toBe(false);
    await user.click(toggle);
    await user.tab();
    expect(document.activeElement?.textContent).toBe("Set password");
    await user.tab();
    await user.tab();
    expect(isOpen()).toBe(false);
  });

  it("signs out, and says why if it cannot", async () => {
    let isDown = true;
    const { user, calls } = await openMenu({
      "POST /auth/logout": () =>
        isDown ? refuse(503, "database_unavailable", "the database does not answer") : done(),
    });
    await user.click(screen.getByRole("button", { name: "Sign out" }));
    expect((await screen.findByRole("alert")).textContent).toContain("The database does not");
    isDown = false;
    await user.click(screen.getByRole("button", { name: "Sign out" }));
    expect(await screen.findByLabelText("Password")).toBeTruthy();
    expect(screen.queryByText(/session has ended/)).toBeNull();
    expect(calls.at(-1)?.headers.get("X-Godel-Csrf")).toBe("csrf-1");
    expect(FakeWire.last.isClosed).toBe(true);
  });

  it("notices on a change that the session has ended", async () => {
    let isIn = true;
    const { user } = await openMenu({
      "GET /auth/me": () => (isIn ? ok(SESSION) : nobody()),
      "POST /auth/logout": nobody,
    });
    isIn = false;
    await user.click(screen.getByRole("button", { name: "Sign out" }));
    expect(await screen.findByText(/Your session has ended/)).toBeTruthy();
  });
});

describe("setting the own password", () => {
  it("sends it, says so and gives the focus back", async () => {
    const { user, calls, toggle } = await openMenu({ "PUT /auth/password": done });
    await user.click(screen.getByRole("button", { name: "Set password" }));
    const dialog = screen.getByRole("dialog", { name: "Set password" });
    const field = within(dialog).getByLabelText("New password");
    expect(field.getAttribute("autocomplete")).toBe("new-password");
    expect(field.getAttribute("minlength")).toBe("12");
    const whose = dialog.querySelector("input[autocomplete=username]");
    expect(whose).toHaveProperty("value", "owner");
    await user.type(field, " twelve or more ");
    await user.click(within(dialog).getByRole("button", { name: "Save" }));
    expect(await within(dialog).findByText(/Your password is set/)).toBeTruthy();
    const sent = calls.find((call) => call.path === "/auth/password");
    expect(sent).toMatchObject({ method: "PUT", body: { password: " twelve or more " } });
    await user.click(within(dialog).getByRole("button", { name: "Close" }));
    expect(screen.queryByRole("dialog")).toBeNull();
    expect(document.activeElement).toBe(toggle);
  });

  it("says why a password was refused and keeps it for another try", async () => {
    const { user } = await openMenu({
      "PUT /auth/password": () =>
        refuse(400, "invalid_field", "a password has 12 characters or more"),
    });
    await user.click(screen.getByRole("button", { name: "Set password" }));
    await user.type(screen.getByLabelText("New password"), "twelve or more{Enter}");
    expect((await screen.findByRole("alert")).textContent).toContain("A password has 12");
    expect(screen.getByLabelText("New password")).toHaveProperty("value", "twelve or more");
  });

  it("asks for the current password once the server needs it", async () => {
    let known = "the old password";
    const { user, calls } = await openMenu({
      "PUT /auth/password": (call) => {
        const given = (call.body as { currentPassword?: string }).currentPassword;
        if (given === undefined) {
          return refuse(400, "current_password_needed", "this account has a password");
        }
        return given === known ? done() : refuse(401, "wrong_password", "it is wrong");
      },
    });
    await user.click(screen.getByRole("button", { name: "Set password" }));
    expect(screen.queryByLabelText("Current password")).toBeNull();
    await user.type(screen.getByLabelText("New password"), "twelve or more{Enter}");
    const field = await screen.findByLabelText("Current password");
    expect(document.activeElement).toBe(field);
    expect(field.getAttribute("autocomplete")).toBe("current-password");
    expect(screen.queryByRole("alert")).toBeNull();
    await user.type(field, "a guess{Enter}");
    expect((await screen.findByRole("alert")).textContent).toContain("It is wrong");
    expect(screen.getByRole("dialog", { name: "Set password" })).toBeTruthy();
    known = "a guess";
    await user.click(screen.getByRole("button", { name: "Save" }));
    expect(await screen.findByText(/Your password is set/)).toBeTruthy();
    const sent = calls.filter((call) => call.path === "/auth/password").at(-1);
    expect(sent?.body).toEqual({ password: "twelve or more", currentPassword: "a guess" });
  });

  it("can be left without a change", async () => {
    const { user, calls, toggle } = await openMenu();
    await user.click(screen.getByRole("button", { name: "Set password" }));
    await user.click(screen.getByRole("button", { name: "Cancel" }));
    expect(screen.queryByRole("dialog")).toBeNull();
    expect(document.activeElement).toBe(toggle);
    expect(calls.some((call) => call.path === "/auth/password")).toBe(false);
  });
});
