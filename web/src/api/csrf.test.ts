import { describe, expect, it } from "vitest";
import { done, fakeServer, nobody, ok, refuse, SESSION } from "../../tests/fakeServer";
import { ApiError, get, post, put } from "./client";
import { logIn, logOut, whoAmI } from "./session";

const csrfRefused = () => refuse(403, "csrf_refused", "this request did not come from here");
const renewed = { ...SESSION, csrfToken: "csrf-2" };

/** Answers like a server whose cookie belongs to the token `csrf-2`. */
const needsNewToken = ({ headers }: { headers: Headers }) =>
  headers.get("X-Godel-Csrf") === "csrf-2" ? done() : csrfRefused();

const tokens = (calls: { path: string; headers: Headers }[], path: string) =>
  calls.filter((call) => call.path === path).map((call) => call.headers.get("X-Godel-Csrf"));

describe("the proof that a change comes from this page", () => {
  it("comes from the answer to a login", async () => {
    const calls = fakeServer({
      "POST /auth/login": () => ok(SESSION),
      "PUT /auth/password": done,
    });
    await logIn({ key: "k" });
    await put("/auth/password", { password: "p" });
    expect(tokens(calls, "/auth/login")).toEqual([null]);
    expect(tokens(calls, "/auth/password")).toEqual(["csrf-1"]);
  });

  it("comes from who is logged in, and goes with the logout", async () => {
    const calls = fakeServer({
      "GET /auth/me": () => ok(SESSION),
      "POST /auth/logout": done,
      "POST /auth/ticket": done,
    });
    await whoAmI();
    await logOut();
    await post("/auth/ticket");
    expect(tokens(calls, "/auth/logout")).toEqual(["csrf-1"]);
    expect(tokens(calls, "/auth/ticket")).toEqual([null]);
  });

  it("is not sent when something is only read", async () => {
    const calls = fakeServer({ "GET /auth/me": () => ok(SESSION) });
    await whoAmI();
    await get("/auth/me");
    expect(tokens(calls, "/auth/me")).toEqual([null, null]);
  });

  it("is asked for again when the server refuses it, and the change is repeated", async () => {
    const calls = fakeServer({
      "POST /auth/login": () => ok(SESSION),
      "GET /auth/me": () => ok(renewed),
      "PUT /auth/password": needsNewToken,
    });
    await logIn({ key: "k" });
    await put("/auth/password", { password: "secret" });
    expect(tokens(calls, "/auth/password")).toEqual(["csrf-1", "csrf-2"]);
    expect(calls.at(-1)?.body).toEqual({ password: "secret" });
    await put("/auth/password", { password: "secret" });
    expect(tokens(calls, "/auth/password")).toEqual(["csrf-1", "csrf-2", "csrf-2"]);
  });

  it("is asked for when there is none yet", async () => {
    const calls = fakeServer({
      "GET /auth/me": () => ok(renewed),
      "POST /auth/ticket": needsNewToken,
    });
    await post("/auth/ticket");
    expect(tokens(calls, "/auth/ticket")).toEqual([null, "csrf-2"]);
  });

  it("is not asked for twice", async () => {
    const calls = fakeServer({
      "GET /auth/me": () => ok(renewed),
      "POST /auth/ticket": csrfRefused,
    });
    await expect(post("/auth/ticket")).rejects.toMatchObject({ code: "csrf_refused" });
    expect(calls.map((call) => call.path)).toEqual(["/auth/ticket", "/auth/me", "/auth/ticket"]);
  });

  it("never repeats a change in the name of somebody else", async () => {
    const other = { ...renewed, userId: "u2", actor: "user:mallory" };
    const calls = fakeServer({
      "POST /auth/login": () => ok(SESSION),
      "GET /auth/me": () => ok(other),
      "POST /auth/ticket": needsNewToken,
    });
    await logIn({ key: "k" });
    for (const _ of [1, 2]) {
      await expect(post("/auth/ticket")).rejects.toMatchObject({
        code: "session_changed",
        isStaleSession: true,
      });
    }
    expect(tokens(calls, "/auth/ticket")).toEqual(["csrf-1", "csrf-1"]);
  });

  it("says that the session ended if it did", async () => {
    fakeServer({ "GET /auth/me": nobody, "POST /auth/ticket": csrfRefused });
    const error = await post("/auth/ticket").catch((reason: unknown) => reason);
    expect(error instanceof ApiError && error.isUnauthenticated).toBe(true);
  });
});
