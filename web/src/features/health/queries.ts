import { queryOptions } from "@tanstack/react-query";
import { ApiError, call } from "../../api/client";
import type { Health } from "../../api/types";

/** No event tells how the server is; see the invariants in `web/README.md`. */
export const REFRESH_MS = 10_000;

/** The server's own view of itself. An unhealthy server answers 503 with the same body. */
export const healthQuery = queryOptions({
  queryKey: ["health"],
  queryFn: async (): Promise<Health> => {
    const response = await call("/health", { headers: { Accept: "application/json" } });
    const body: unknown = await response.json().catch(() => undefined);
    if (isHealth(body)) return body;
    throw new ApiError(response.status, {
      code: "unexpected_answer",
      message: `the health check answered ${response.status} without details`,
    });
  },
  refetchInterval: REFRESH_MS,
  retry: false,
});

function isHealth(body: unknown): body is Health {
  return typeof body === "object" && body !== null && "status" in body && "checks" in body;
}
