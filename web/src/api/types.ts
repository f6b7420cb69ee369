/**
 * The few wire shapes this page reads, written by hand.
 *
 * Once `openapi.json` exists, `npm run codegen` writes `schema.gen.ts` and these
 * become aliases of the generated types.
 */

/** The body of every failed request. */
export interface ErrorBody {
  code: string;
  message: string;
  hint?: string | null;
  details?: unknown;
}

export type Envelope<T> =
  | { success: true; data: T }
  | {
      success: false;
      error: ErrorBody;
      meta?: { requestId?: string; timestamp?: string };
    };

/** Who is logged in, and until when. */
export interface Session {
  tenant: { id: string; name: string };
  /** The name that events carry, such as `key:owner`. */
  actor: string;
  expiresAt?: string | null;
}

export type HealthStatus = "healthy" | "degraded" | "unhealthy";

/** One probe of `/health`; each probe adds its own figures. */
export interface HealthCheck {
  status: HealthStatus;
  latencyMs?: number;
  freeBytes?: number;
  message?: string;
}

export interface Health {
  status: HealthStatus;
  version: string;
  checks: Record<string, HealthCheck>;
  timestamp: string;
}
