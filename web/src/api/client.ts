import { learnTime } from "./clock";
import { csrfHeader, isSomebodyElse, keepCsrf } from "./csrf";
import type { Answer, Asked, FilePath, FileType, Sent } from "./routes";
import type { Envelope, ErrorBody } from "./types";

/** A request that failed, in words a person can act on. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  /** The field of the request that it is about, such as `limits.maxAgents`, if the server said so. */
  readonly field: string | undefined;
  readonly requestId: string | undefined;
  /** The trace that the request was a part of: events that came of it carry the same. */
  readonly traceId: string | undefined;
  /** After how many seconds another try makes sense, if the server said so. */
  readonly retryAfterSeconds: number | undefined;
  /** More for programs, depending on the code: such as each problem of a workflow with its place. */
  readonly details: unknown;

  constructor(status: number, body: ErrorBody, requestId?: string, traceId?: string) {
    super(body.message);
    this.name = "ApiError";
    this.status = status;
    this.code = body.code;
    this.hint = body.hint ?? undefined;
    this.field = body.field ?? undefined;
    this.requestId = requestId;
    this.traceId = traceId;
    this.retryAfterSeconds = secondsIn(body.details);
    this.details = body.details;
  }

  /**
   * True when nobody is logged in, or no longer. The status alone does not tell: a wrong password
   * and an unknown device code are answered with 401 as well.
   */
  get isUnauthenticated(): boolean {
    return this.code === "unauthorized";
  }

  /** True when this page shows a session that is not the browser's any more. */
  get isStaleSession(): boolean {
    return this.isUnauthenticated || this.code === SESSION_CHANGED;
  }
}

const REQUEST_TIMEOUT_MS = 15_000;
const SESSION_CHANGED = "session_changed";

/** Reads one resource and unwraps the envelope. */
export function get<const P extends string>(path: Asked<"get", P>): Promise<Answer<"get", P>> {
  return getAt(path);
}

/**
 * Reads what is at a path that is only known when it runs. Nothing holds the type against what the
 * server says, so it is for what `get` cannot be told.
 */
export function getAt<T>(path: string): Promise<T> {
  return request<T>(path, { method: "GET" });
}

/** Sends one change; `timeoutMs` for those that are known to take long. */
export function post<const P extends string>(
  path: Asked<"post", P>,
  ...[body, timeoutMs]: Sent<"post", P>
): Promise<Answer<"post", P>> {
  return change("POST", path, body, timeoutMs);
}

/** Replaces one thing. */
export function put<const P extends string>(
  path: Asked<"put", P>,
  ...[body]: Sent<"put", P>
): Promise<Answer<"put", P>> {
  return change("PUT", path, body);
}

/** Changes some fields of one thing. */
export function patch<const P extends string>(
  path: Asked<"patch", P>,
  ...[body]: Sent<"patch", P>
): Promise<Answer<"patch", P>> {
  return change("PATCH", path, body);
}

/** Takes one thing away. */
export function remove<const P extends string>(
  path: Asked<"delete", P>,
): Promise<Answer<"delete", P>> {
  return change("DELETE", path);
}

/** Sends a file as it is, byte for byte. */
export function upload<const P extends string>(
  path: Asked<"post", P>,
  { bytes, type }: { bytes: ArrayBuffer; type: FileType<P> },
  timeoutMs?: number,
): Promise<Answer<"post", P>> {
  return sendChange("POST", path, { body: bytes, type }, timeoutMs);
}

/** Reads a file as it is; what is refused is an error like any other. */
export async function download<const P extends string>(path: FilePath<P>): Promise<Blob> {
  const response = await call(path, { method: "GET" });
  return response.ok ? response.blob() : refusedWith(response);
}

/** Calls the server and reports a dead connection like any other error. */
export async function call(path: string, init: RequestInit): Promise<Response> {
  const began = performance.now();
  try {
    const response = await fetch(path, {
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      ...init,
    });
    learnTime(response.headers.get("date"), performance.now() - began);
    return response;
  } catch {
    throw new ApiError(0, {
      code: "unreachable",
      message: "the server does not answer",
      hint: "check that `godel up` is still running, then try again",
    });
  }
}

function change<T>(method: string, path: string, body?: object, timeoutMs?: number): Promise<T> {
  const content = body && { body: JSON.stringify(body), type: "application/json" };
  return sendChange<T>(method, path, content, timeoutMs);
}

async function sendChange<T>(
  method: string,
  path: string,
  content: { body: BodyInit; type: string } | undefined,
  timeoutMs = REQUEST_TIMEOUT_MS,
): Promise<T> {
  const send = () => {
    const headers = csrfHeader();
    const signal = AbortSignal.timeout(timeoutMs);
    if (!content) return request<T>(path, { method, headers, signal });
    headers["Content-Type"] = content.type;
    return request<T>(path, { method, headers, signal, body: content.body });
  };
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "csrf_refused") throw error;
    await renewCsrf();
    return send();
  }
}

/**
 * The token belongs to the cookie, and another tab may have got a new one. If it is of another
 * person, nothing is repeated: what one person clicked must not happen in the name of another.
 */
async function renewCsrf(): Promise<void> {
  const session = await get("/auth/me");
  if (isSomebodyElse(session)) {
    throw new ApiError(403, {
      code: SESSION_CHANGED,
      message: "somebody else has signed in in another tab; nothing was changed",
      hint: "look who you are now, then try again",
    });
  }
  keepCsrf(session);
}

async function request<T>(path: string, init: RequestInit): Promise<T> {
  const response = await call(path, init);
  if (response.status === 204) return undefined as T;
  const body = await readEnvelope<T>(response);
  if (body?.success === true) return body.data;
  return refusedWith(response, body);
}

/** The reason that the server gave, or that it gave none. */
async function refusedWith(response: Response, told?: Envelope<unknown>): Promise<never> {
  const body = told ?? (await readEnvelope(response));
  const trace = traceIn(response.headers.get("traceparent"));
  if (body?.success === false)
    throw new ApiError(response.status, body.error, body.meta?.requestId, trace);
  const unexplained = {
    code: "unexpected_answer",
    message: `the server answered ${response.status} without an explanation`,
    hint: "look at the server log for the reason",
  };
  throw new ApiError(response.status, unexplained, undefined, trace);
}

async function readEnvelope<T>(response: Response): Promise<Envelope<T> | undefined> {
  if (response.bodyUsed) return undefined;
  try {
    const body: unknown = await response.json();
    const isEnvelope = typeof body === "object" && body !== null && "success" in body;
    return isEnvelope ? (body as Envelope<T>) : undefined;
  } catch {
    return undefined;
  }
}

/** The trace out of a W3C `traceparent`: `00-<trace>-<span>-01`. */
function traceIn(traceparent: string | null): string | undefined {
  return /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(traceparent ?? "")?.[1];
}

function secondsIn(details: unknown): number | undefined {
  if (typeof details !== "object" || details === null) return undefined;
  const seconds = "retryAfterSeconds" in details ? details.retryAfterSeconds : undefined;
  return typeof seconds === "number" ? seconds : undefined;
}
