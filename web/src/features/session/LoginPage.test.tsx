import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { fakeServer, HEALTH, ok, refuse, SESSION } from "../../../tests/fakeServer";
import { FakeWire } from "../../../tests/fakeWire";
import { renderApp } from "../../../tests/renderApp";
import { offerLoginToken } from "./queries";

const nobody = () => refuse(401, "nobody is logged in");
const health = () => ({ status: 200, body: HEALTH });

beforeEach(() => {
  FakeWire.all = [];
  vi.stubGlobal("WebSocket", FakeWire);
});

describe("signing in", () => {
  it("asks for the key and lets the owner in", async () => {
    const user = userEvent.setup();
    const calls = fakeServer({
      "GET /auth/me": nobody,
      "POST /auth/login": () => ok(SESSION),
      "GET /health": health,
    });
    renderApp();
    await user.type(await screen.findByLabelText("Owner key"), "  gk_123  ");
    await user.click(screen.getByRole("button", { name: "Sign in" }));
    expect(await screen.findByText("acme")).toBeTruthy();
    const login = calls.find((call) => call.path === "/auth/login");
    expect(login?.body).toEqual({ key: "gk_123" });
    expect(login?.headers.get("X-Godel-Csrf")).toBe("1");
  });

  it("says why a key was refused and what to do", async () => {
    const user = userEvent.setup();
    fakeServer({
      "GET /auth/me": nobody,
      "POST /auth/login": () =>
        refuse(401, "this key is not known here", "look into `owner.key` in the data directory"),
    });
    renderApp();
    await user.type(await screen.findByLabelText("Owner key"), "wrong{Enter}");
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
    const logins = calls.filter((call) => call.path === "/auth/login");
    expect(logins.map((call) => call.body)).toEqual([{ token: "one-time" }]);
  });

  it("refuses a used link with a sentence and still offers the form", async () => {
    fakeServer({
      "GET /auth/me": nobody,
      "POST /auth/login": () => refuse(401, "this login link was used already"),
    });
    offerLoginToken("spent");
    renderApp();
    expect((await screen.findByRole("alert")).textContent).toContain(
      "This login link was used already.",
    );
    expect(screen.getByLabelText("Owner key")).toBeTruthy();
    expect(screen.queryByRole("button", { name: /Go on as/ })).toBeNull();
  });

  it("offers the session that is still there when a link fails", async () => {
    const user = userEvent.setup();
    fakeServer({
      "GET /auth/me": () => ok(SESSION),
      "POST /auth/login": () => refuse(401, "this login link was used already"),
      "GET /health": health,
    });
    offerLoginToken("spent");
    renderApp();
    await user.click(await screen.findByRole("button", { name: "Go on as owner" }));
    expect(await screen.findByText("acme")).toBeTruthy();
  });

  it("takes a link pasted into the open page", async () => {
    fakeServer({
      "GET /auth/me": nobody,
      "POST /auth/login": () => ok(SESSION),
      "GET /health": health,
    });
    renderApp();
    await screen.findByLabelText("Owner key");
    window.location.hash = "#token=late";
    window.dispatchEvent(new Event("hashchange"));
    expect(await screen.findByText("acme")).toBeTruthy();
    expect(window.location.hash).toBe("");
  });

  it("can show the key that was typed", async () => {
    const user = userEvent.setup();
    fakeServer({ "GET /auth/me": nobody });
    renderApp();
    const field = await screen.findByLabelText("Owner key");
    expect(field.getAttribute("type")).toBe("password");
    await user.click(screen.getByRole("button", { name: "Show the key" }));
    expect(field.getAttribute("type")).toBe("text");
  });
});

describe("leaving", () => {
  it("signs out", async () => {
    const user = userEvent.setup();
    const calls = fakeServer({
      "GET /auth/me": () => ok(SESSION),
      "POST /auth/logout": () => ok(null),
      "GET /health": health,
    });
    renderApp();
    await user.click(await screen.findByRole("button", { name: "Sign out" }));
    expect(await screen.findByLabelText("Owner key")).toBeTruthy();
    expect(screen.queryByText(/session has ended/)).toBeNull();
    expect(calls.at(-1)?.headers.get("X-Godel-Csrf")).toBe("1");
    expect(FakeWire.last.isClosed).toBe(true);
  });

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
    expect(await screen.findByLabelText("Owner key")).toBeTruthy();
  });
});
