import { queryOptions, useQuery } from "@tanstack/react-query";
import { ApiError, get } from "../../api/client";
import type { SystemMetrics } from "../../api/types";
import { useCan } from "../../roles/session";
import { REFRESH_MS } from "./queries";

/** What the server uses, and how busy it was since it was asked before. */
export interface Load {
  metrics: SystemMetrics;
  /** 100 is one core. */
  cpuPercent: number;
}

const KEY = ["health", "system"] as const;

/** Asked as often as the health beside it, and for the same reason: no event tells of it. */
const loadQuery = queryOptions({
  queryKey: KEY,
  queryFn: async ({ client }): Promise<Load> => {
    const metrics = await get("/api/v1/metrics/system");
    return { metrics, cpuPercent: busyOf(metrics, client.getQueryData<Load>(KEY)?.metrics) };
  },
  // What only the owner of the machine may know is not asked for again and again.
  refetchInterval: ({ state: { error } }) => (isDenied(error) ? false : REFRESH_MS),
  retry: false,
});

function isDenied(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 403;
}

type Used = Pick<SystemMetrics, "cpuSeconds" | "uptimeSeconds">;

/** How busy the process was in between, or since it started if nothing is known of before. */
export function busyOf(now: Used, before: Used | undefined): number {
  // A server that was started anew counts from nothing.
  const since = before && before.uptimeSeconds < now.uptimeSeconds ? before : NOTHING;
  const seconds = now.uptimeSeconds - since.uptimeSeconds;
  return seconds <= 0 ? 0 : Math.max(0, (100 * (now.cpuSeconds - since.cpuSeconds)) / seconds);
}

const NOTHING: Used = { cpuSeconds: 0, uptimeSeconds: 0 };

/** What the server uses, for those who may know; `undefined` while it is asked, `null` if it is not told. */
export function useLoad(): Load | undefined | null {
  const isAllowed = useCan("metric:read:team");
  const { data, isError } = useQuery({ ...loadQuery, enabled: isAllowed });
  return isAllowed && !(isError && data === undefined) ? data : null;
}
