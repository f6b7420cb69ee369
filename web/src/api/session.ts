import { get, post } from "./client";
import { forgetCsrf, keepCsrf } from "./csrf";
import type { LoginRequest, Session } from "./types";

/** Returns who is logged in; from here on this page acts for them. */
export async function whoAmI(): Promise<Session> {
  const session = await get("/auth/me");
  keepCsrf(session);
  return session;
}

/** Logs in; from here on this page acts for who did. */
export async function logIn(request: LoginRequest): Promise<Session> {
  const session = await post("/auth/login", request);
  keepCsrf(session);
  return session;
}

/** Ends the login of this browser. */
export async function logOut(): Promise<void> {
  await post("/auth/logout");
  forgetCsrf();
}
