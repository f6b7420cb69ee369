import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { done, fakeServer, nobody, ok, refuse, SESSION } from "../../../tests/fakeServer";
import { renderApp } from "../../../tests/renderApp";
import { offerDeviceCode } from "./deviceLink";

const PATH = "/auth/device/decision";
const waits = () => ok({ name: "ann's laptop", status: "waiting" });
const unknown = () =>
  refuse(401, "device_code_invalid", "no program waits with this code", {
    hint: "run `godel login` again",
  });

/** A server with one program waiting, which answers as it is told. */
const decides = ({ body }: { body: unknown }) => {
  const { approve } = body as { approve?: boolean };
  if (approve === undefined) return waits();
  return ok({ name: "ann's laptop", status: approve ? "approved" : "refused" });
};

beforeEach(() => window.history.replaceState(null, "", "/dashboard/device"));
afterEach(() => {
  window.history.replaceState(null, "", "/dashboard/");
  offerDeviceCode("");
});

async function enter(code: string) {
  const user = userEvent.setup();
  await user.type(await screen.findByLabelText("Code"), code);
  await user.click(screen.getByRole("button", { name: "Continue" }));
  return user;
}

const sent = (calls: { path: string; body: unknown }[]) =>
  calls.filter((call) => call.path === PATH).map((call) => call.body);

describe("letting a program in", () => {
  it("shows who asks and who I am, and approves", async () => {
    const calls = fakeServer({ "GET /auth/me": () => ok(SESSION), [`POST ${PATH}`]: decides });
    renderApp();
    const user = await enter("bcdf ghjk");
    const title = await screen.findByRole("heading", { name: "Let this program in?" });
    await waitFor(() => expect(document.activeElement).toBe(title));
    expect(screen.getByText("ann's laptop")).toBeTruthy();
    expect(screen.getByText("BCDF-GHJK")).toBeTruthy();
    const me = screen.getByRole("region", { name: "Your account" });
    for (const part of ["owner", "admin", "acme"]) {
      expect(within(me).getByText(part)).toBeTruthy();
    }
    await user.click(screen.getByRole("button", { name: "Approve" }));
    await screen.findByRole("heading", { name: "Approved" });
    expect(screen.getByRole("status").textContent).toContain("ann's laptop is let in.");
    expect(sent(calls)).toEqual([
      { userCode: "bcdf ghjk" },
      { userCode: "bcdf ghjk", approve: true },
    ]);
  });

  it("refuses, and takes another code", async () => {
    const calls = fakeServer({ "GET /auth/me": () => ok(SESSION), [`POST ${PATH}`]: decides });
    renderApp();
    const user = await enter("BCDF-GHJK");
    await user.click(await screen.findByRole("button", { name: "Refuse" }));
    expect((await screen.findByRole("status")).textContent).toContain("is not let in");
    expect(sent(calls).at(-1)).toEqual({ userCode: "BCDF-GHJK", approve: false });
    await user.click(screen.getByRole("button", { name: "Enter another code" }));
    expect(await screen.findByLabelText("Code")).toHaveProperty("value", "");
  });

  it("fills in the code of the link, but asks before it looks", async () => {
    offerDeviceCode("BCDF-GHJK");
    const calls = fakeServer({ "GET /auth/me": () => ok(SESSION), [`POST ${PATH}`]: decides });
    renderApp();
    expect(await screen.findByLabelText("Code")).toHaveProperty("value", "BCDF-GHJK");
    expect(sent(calls)).toEqual([]);
  });

  it("says that a code is unknown, and the person stays logged in", async () => {
    const calls = fakeServer({ "GET /auth/me": () => ok(SESSION), [`POST ${PATH}`]: unknown });
    renderApp();
    await enter("XXXX-XXXX");
    expect((await screen.findByRole("alert")).textContent).toContain("No program waits");
    expect(screen.getByLabelText("Code")).toHaveProperty("value", "XXXX-XXXX");
    expect(calls.filter((call) => call.path === "/auth/me")).toHaveLength(1);
  });

  it("goes back to the code when the program waited too long", async () => {
    let isWaiting = true;
    fakeServer({
      "GET /auth/me": () => ok(SESSION),
      [`POST ${PATH}`]: () => (isWaiting ? waits() : unknown()),
    });
    renderApp();
    const user = await enter("BCDF-GHJK");
    const approve = await screen.findByRole("button", { name: "Approve" });
    isWaiting = false;
    await user.click(approve);
    expect((await screen.findByRole("alert")).textContent).toContain("No program waits");
    expect(screen.getByLabelText("Code")).toBeTruthy();
  });

  it("says that a role may not let programs in", async () => {
    fakeServer({
      "GET /auth/me": () => ok({ ...SESSION, role: "viewer" }),
      [`POST ${PATH}`]: () => refuse(403, "forbidden", "a viewer may not make keys"),
    });
    renderApp();
    await enter("BCDF-GHJK");
    expect((await screen.findByRole("alert")).textContent).toContain("A viewer may not make keys.");
    expect(screen.getByLabelText("Code")).toBeTruthy();
  });
});

describe("a program that waits while nobody is logged in", () => {
  it("keeps the code over the login", async () => {
    offerDeviceCode("BCDF-GHJK");
    fakeServer({ "GET /auth/me": nobody, "POST /auth/login": () => ok(SESSION) });
    renderApp();
    expect(await screen.findByText(/Sign in first/)).toBeTruthy();
    const user = userEvent.setup();
    await user.type(screen.getByLabelText("Name"), "owner");
    await user.type(screen.getByLabelText("Password"), "long enough{Enter}");
    expect(await screen.findByLabelText("Code")).toHaveProperty("value", "BCDF-GHJK");
  });

  it("keeps the code when the session ends on the way", async () => {
    let isIn = true;
    fakeServer({
      "GET /auth/me": () => (isIn ? ok(SESSION) : nobody()),
      [`POST ${PATH}`]: nobody,
      "POST /auth/login": () => ok(SESSION),
    });
    renderApp();
    await screen.findByLabelText("Code");
    isIn = false;
    const user = await enter("BCDF-GHJK");
    expect(await screen.findByText(/Your session has ended/)).toBeTruthy();
    await user.type(screen.getByLabelText("Name"), "owner");
    await user.type(screen.getByLabelText("Password"), "long enough{Enter}");
    expect(await screen.findByLabelText("Code")).toHaveProperty("value", "BCDF-GHJK");
  });

  it("can be answered by somebody else, with the same code", async () => {
    fakeServer({
      "GET /auth/me": () => ok(SESSION),
      "POST /auth/logout": done,
      "POST /auth/login": () => ok({ ...SESSION, userId: "u2", actor: "user:bob" }),
      [`POST ${PATH}`]: decides,
    });
    renderApp();
    const user = await enter("BCDF-GHJK");
    await screen.findByRole("button", { name: "Approve" });
    await user.click(screen.getByRole("button", { name: "Sign in as somebody else" }));
    await user.type(await screen.findByLabelText("Name"), "bob");
    await user.type(screen.getByLabelText("Password"), "long enough{Enter}");
    expect(await screen.findByLabelText("Code")).toHaveProperty("value", "BCDF-GHJK");
    expect(screen.getByText("bob")).toBeTruthy();
  });

  it("is not approved in the name of somebody who signed in in another tab", async () => {
    let me: object = SESSION;
    const calls = fakeServer({
      "GET /auth/me": () => ok(me),
      [`POST ${PATH}`]: (call) =>
        call.headers.get("X-Godel-Csrf") === (me as typeof SESSION).csrfToken
          ? decides(call)
          : refuse(403, "csrf_refused", "no"),
    });
    renderApp();
    const user = await enter("BCDF-GHJK");
    const approve = await screen.findByRole("button", { name: "Approve" });
    me = { ...SESSION, userId: "u2", actor: "user:bob", csrfToken: "csrf-2" };
    await user.click(approve);
    expect((await screen.findByRole("alert")).textContent).toContain("Somebody else has signed in");
    expect(await screen.findByText("bob")).toBeTruthy();
    expect(sent(calls)).toHaveLength(2);
    await user.click(screen.getByRole("button", { name: "Approve" }));
    expect(await screen.findByRole("heading", { name: "Approved" })).toBeTruthy();
  });
});
