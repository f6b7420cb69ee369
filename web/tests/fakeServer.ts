import { vi } from "vitest";
import type { Health, Session } from "../src/api/types";

interface Call {
  method: string;
  path: string;
  headers: Headers;
  body: unknown;
}

type Answer = { status: number; body: unknown };

export const SESSION: Session = {
  tenant: { id: "t1", name: "acme" },
  actor: "user:owner",
  userId: "u1",
  role: "admin",
  permissions: ["*:*:all"],
  scopes: [],
  csrfToken: "csrf-1",
  expiresAt: "2026-12-01T00:00:00Z",
};

const DEVELOPED = ["task", "agent", "workflow", "session", "bead", "convoy", "review"];

/** Somebody who may lead only what is theirs. */
export const DEVELOPER: Session = {
  ...SESSION,
  actor: "user:ann",
  userId: "u2",
  role: "developer",
  permissions: DEVELOPED.flatMap((what) => [
    ...["create", "update", "execute"].map((act) => `${what}:${act}:own`),
    `${what}:read:team`,
  ]),
};

export const HEALTH: Health = {
  status: "healthy",
  version: "1.2.3",
  checks: {
    database: { status: "healthy", latencyMs: 0.4 },
    disk: { status: "healthy", latencyMs: 0.1, freeBytes: 5e11 },
  },
  timestamp: "2026-11-15T10:00:00Z",
};

export const ok = (data: unknown): Answer => ({ status: 200, body: { success: true, data } });

/** Done, and nothing to tell. */
export const done = (): Answer => ({ status: 204, body: undefined });

/** An error of the server. */
export const refuse = (
  status: number,
  code: string,
  message: string,
  more: { hint?: string; details?: unknown } = {},
): Answer => ({
  status,
  body: {
    success: false,
    error: { code, message, ...more },
    meta: { requestId: "req-7", timestamp: "2026-11-15T10:00:00Z" },
  },
});

/** Nobody is logged in. */
export const nobody = (): Answer => refuse(401, "unauthorized", "the caller is not known");

/** Plays the HTTP side of the server; routes are `METHOD /path`. Returns the calls it saw. */
export function fakeServer(routes: Record<string, (call: Call) => Answer>): Call[] {
  const calls: Call[] = [];
  vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
    const call: Call = {
      method: init.method ?? "GET",
      path,
      headers: new Headers(init.headers),
      body: typeof init.body === "string" ? JSON.parse(init.body) : undefined,
    };
    calls.push(call);
    const route = routes[`${call.method} ${path}`];
    if (!route) throw new TypeError(`no route for ${call.method} ${path}`);
    const { status, body } = route(call);
    return new Response(body === undefined ? null : JSON.stringify(body), { status });
  });
  return calls;
}
