import type { Envelope, ErrorBody } from "./types";

/** A request that failed, in words a person can act on. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly requestId: string | undefined;

  constructor(status: number, body: ErrorBody, requestId?: string) {
    super(body.message);
    this.name = "ApiError";
    this.status = status;
    this.code = body.code;
    this.hint = body.hint ?? undefined;
    this.requestId = requestId;
  }

  /** True when nobody is logged in, or no longer. */
  get isUnauthenticated(): boolean {
    return this.status === 401;
  }
}

const REQUEST_TIMEOUT_MS = 15_000;

/** Reads one resource and unwraps the envelope. */
export function get<T>(path: string): Promise<T> {
  return request<T>(path, { method: "GET" });
}

/** Sends one change. The extra header is what a foreign page cannot add. */
export function post<T>(path: string, body?: object): Promise<T> {
  const headers: Record<string, string> = { "X-Godel-Csrf": "1" };
  if (!body) return request<T>(path, { method: "POST", headers });
  headers["Content-Type"] = "application/json";
  return request<T>(path, { method: "POST", headers, body: JSON.stringify(body) });
}

/** Calls the server and reports a dead connection like any other error. */
export async function call(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, {
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      ...init,
    });
  } catch {
    throw new ApiError(0, {
      code: "unreachable",
      message: "the server does not answer",
      hint: "check that `godel up` is still running, then try again",
    });
  }
}

async function request<T>(path: string, init: RequestInit): Promise<T> {
  const response = await call(path, init);
  if (response.status === 204) return undefined as T;
  const body = await readEnvelope<T>(response);
  if (body?.success === true) return body.data;
  if (body?.success === false)
    throw new ApiError(response.status, body.error, body.meta?.requestId);
  throw new ApiError(response.status, {
    code: "unexpected_answer",
    message: `the server answered ${response.status} without an explanation`,
    hint: "look at the server log for the reason",
  });
}

async function readEnvelope<T>(response: Response): Promise<Envelope<T> | undefined> {
  try {
    const body: unknown = await response.json();
    const isEnvelope = typeof body === "object" && body !== null && "success" in body;
    return isEnvelope ? (body as Envelope<T>) : undefined;
  } catch {
    return undefined;
  }
}
