import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { fakeServer, HEALTH, nobody, ok, refuse, SESSION } from "../../../tests/fakeServer";
import { FakeWire } from "../../../tests/fakeWire";
import { renderApp } from "../../../tests/renderApp";
import { offerLoginToken } from "./queries";

const usedLink = () => refuse(401, "login_link_invalid", "this login link was used already");
const health = () => ({ status: 200, body: HEALTH });

beforeEach(() => {
  FakeWire.all = [];
  vi.stubGlobal("WebSocket", FakeWire);
});

const sentTo = (calls: { path: string; body: unknown }[]) =>
  calls.filter((call) => call.path === "/auth/login").map((call) => call.body);

describe("signing in", () => {
  it("takes name and password, and tells password managers what is what", async () => {
    const user = userEvent.setup();
    const calls = fakeServer({
      "GET /auth/me": nobody,
      "POST /auth/login": () => ok(SESSION),
      "GET /health": health,
    });
    renderApp();
    const name = await screen.findByLabelText("Name");
    const password = screen.getByLabelText("Password");
    expect(name.getAttribute("autocomplete")).toBe("username");
    expect(password.getAttribute("autocomplete")).toBe("current-password");
    expect(document.querySelectorAll("input")).toHaveLength(2);
    await user.type(name, " owner ");
    await user.type(password, " with spaces ");
    await user.click(screen.getByRole("button", { name: "Sign in" }));
    expect(await screen.findByText("acme")).toBeTruthy();
    expect(sentTo(calls)).toEqual([{ name: "owner", password: " with spaces " }]);
  });

  it("takes another tenant, and forgets it when it is closed", async () => {
    const user = userEvent.setup();
    const calls = fakeServer({
      "GET /auth/me": nobody,
      "POST /auth/login": () => refuse(401, "wrong_password", "name or password are wrong"),
    });
    renderApp();
    await user.click(await screen.findByRole("button", { name: "Another tenant" }));
    await user.type(screen.getByLabelText("Tenant"), "globex");
    await user.type(screen.getByLabelText("Name"), "ann");
    await user.type(screen.getByLabelText("Password"), "secret{Enter}");
    await screen.findByRole("alert");
    await user.click(screen.getByRole("button", { name: "Another tenant" }));
    await user.type(screen.getByLabelText("Password"), "2{Enter}");
    await waitFor(() => expect(sentTo(calls)).toHaveLength(2));
    expect(sentTo(calls)[0]).toEqual({ name: "ann", password: "secret", tenant: "globex" });
    expect(sentTo(calls)[1]).not.toHaveProperty("tenant");
  });

  it("says that a password is wrong, and is ready for the next one", async () => {
    const user = userEvent.setup();
    const calls = fakeServer({
      "GET /auth/me": nobody,
      "POST /auth/login": () =>
        refuse(401, "wrong_password", "name or password are wrong", {
          hint: "ask an admin for a new login link",
        }),
    });
    renderApp();
    await user.type(await screen.findByLabelText("Name"), "owner");
    await user.type(screen.getByLabelText("Password"), "wrong");
    await user.click(screen.getByRole("button", { name: "Sign in" }));
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("Name or password are wrong.");
    expect(alert.textContent).toContain("Ask an admin for a new login link.");
    expect(alert.textContent).not.toContain("session has ended");
    expect(document.activeElement).toBe(screen.getByLabelText("Password"));
    expect(screen.getByLabelText("Name")).toHaveProperty("value", "owner");
    expect(calls.filter((call) => call.path === "/auth/me")).toHaveLength(1);
  });

  it("says how long to wait after too many attempts", async () => {
    const user = userEvent.setup();
    fakeServer({
      "GET /auth/me": nobody,
      "POST /auth/login": () =>
        refuse(429, "rate_limited", "there were too many attempts", {
          hint: "wait a moment, then try again",
          details: { retryAfterSeconds: 12 },
        }),
    });
    renderApp();
    await user.type(await screen.findByLabelText("Name"), "owner");
    await user.type(screen.getByLabelText("Password"), "wrong{Enter}");
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("There were too many attempts.Try again in 12 seconds.");
    expect(screen.getByRole("button", { name: "Sign in" })).toHaveProperty("disabled", false);
  });

  it("takes an API key", async () => {
    const user = userEvent.setup();
    const calls = fakeServer({
      "GET /auth/me": nobody,
      "POST /auth/login": () => ok(SESSION),
      "GET /health": health,
    });
    renderApp();
    await user.click(await screen.findByRole("button", { name: "Use an API key instead" }));
    await user.type(screen.getByLabelText("API key"), "  gk_123  ");
    await user.click(screen.getByRole("button", { name: "Sign in with the key" }));
    expect(await screen.findByText("acme")).toBeTruthy();
    expect(sentTo(calls)).toEqual([{ key: "gk_123" }]);
  });

  it("says why a key was refused and what to do", async () => {
    const user = userEvent.setup();
    fakeServer({
      "GET /auth/me": nobody,
      "POST /auth/login": () =>
        refuse(401, "unauthorized", "this key is not known here", {
          hint: "look into `owner.key` in the data directory",
        }),
    });
    renderApp();
    await user.click(await screen.findByRole("button", { name: "Use an API key instead" }));
    await user.type(screen.getByLabelText("API key"), "wrong{Enter}");
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("This key is not known here.");
    expect(alert.textContent).toContain("Look into owner.key in the data directory.");
    expect(alert.textContent).toContain("req-7");
  });

  it("uses a login link once, without asking for anything", async () => {
    const calls = fakeServer({
      "POST /auth/login": () => ok(SESSION),
      "GET /health": health,
    });
    offerLoginToken("one-time");
    renderApp();
    expect(await screen.findByText("acme")).toBeTruthy();
    expect(sentTo(calls)).toEqual([{ token: "one-time" }]);
  });

  it("refuses a used link with a sentence and still offers the form", async () => {
    fakeServer({
      "GET /auth/me": nobody,
      "POST /auth/login": usedLink,
    });
    offerLoginToken("spent");
    renderApp();
    expect((await screen.findByRole("alert")).textContent).toContain(
      "This login link was used already.",
    );
    expect(screen.getByLabelText("Password")).toBeTruthy();
    expect(screen.queryByRole("button", { name: /Go on as/ })).toBeNull();
  });

  it("offers the session that is still there when a link fails", async () => {
    const user = userEvent.setup();
    fakeServer({
      "GET /auth/me": () => ok(SESSION),
      "POST /auth/login": usedLink,
      "GET /health": health,
    });
    offerLoginToken("spent");
    renderApp();
    await user.click(await screen.findByRole("button", { name: "Go on as owner" }));
    expect(await screen.findByText("acme")).toBeTruthy();
  });

  it("does not go on with that session because a key was wrong", async () => {
    const user = userEvent.setup();
    const calls = fakeServer({
      "GET /auth/me": () => ok(SESSION),
      "POST /auth/login": ({ body }) =>
        "key" in (body as object)
          ? refuse(401, "unauthorized", "this key is not known")
          : usedLink(),
      "GET /health": health,
    });
    offerLoginToken("spent");
    renderApp();
    await user.click(await screen.findByRole("button", { name: "Use an API key instead" }));
    await user.type(screen.getByLabelText("API key"), "wrong{Enter}");
    expect(await screen.findByText("This key is not known.")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Go on as owner" })).toBeTruthy();
    expect(calls.filter((call) => call.path === "/auth/me")).toHaveLength(1);
  });

  it("takes a link pasted into the open page", async () => {
    fakeServer({
      "GET /auth/me": nobody,
      "POST /auth/login": () => ok(SESSION),
      "GET /health": health,
    });
    renderApp();
    await screen.findByLabelText("Password");
    window.location.hash = "#token=late";
    window.dispatchEvent(new Event("hashchange"));
    expect(await screen.findByText("acme")).toBeTruthy();
    expect(window.location.hash).toBe("");
  });

  it("can show the password that was typed", async () => {
    const user = userEvent.setup();
    fakeServer({ "GET /auth/me": nobody });
    renderApp();
    const field = await screen.findByLabelText("Password");
    expect(field.getAttribute("type")).toBe("password");
    await user.click(screen.getByRole("button", { name: "Show the password" }));
    expect(field.getAttribute("type")).toBe("text");
  });
});

describe("leaving", () => {
  it("notices a session that ended when the stream breaks", async () => {
    let isIn = true;
    fakeServer({
      "GET /auth/me": () => (isIn ? ok(SESSION) : nobody()),
      "GET /health": health,
    });
    renderApp();
    await screen.findByText("acme");
    isIn = false;
    await waitFor(() => FakeWire.last.drop());
    expect(await screen.findByText(/Your session has ended/)).toBeTruthy();
  });
});

describe("a server that does not answer", () => {
  it("says so and tries again when asked", async () => {
    const user = userEvent.setup();
    fakeServer({});
    renderApp();
    expect((await screen.findByRole("alert")).textContent).toContain("The server does not answer.");
    fakeServer({ "GET /auth/me": nobody });
    await user.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByLabelText("Password")).toBeTruthy();
  });
});
