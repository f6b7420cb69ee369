import { queryOptions } from "@tanstack/react-query";
import { get } from "../../api/client";
import { list } from "../../api/list";
import type { ModelCall } from "../../api/types";
import { onLive } from "../../realtime/rules";
import { localZone, type Zone } from "./range";
import type { Kind } from "./spend";

/** Only what belongs to these. */
export type Filter = Readonly<Partial<Record<Kind, string | undefined>>>;

interface Calls {
  since: number;
  filter: Filter;
  /** Only those that belong to none of this kind. */
  without?: Kind | undefined;
}

const USAGE = ["usage"] as const;
const CALLS = ["calls"] as const;
const PAGE = 1_000;
/** More would take long to read and to draw. */
const MOST = 20_000;

export const costQueries = {
  /** Sums by day or hour; days begin at midnight in UTC, or where the reader is. */
  usage: (asked: {
    from: string;
    to: string;
    by: readonly string[];
    filter: Filter;
    zone?: Zone;
  }) =>
    queryOptions({
      queryKey: [...USAGE, asked],
      queryFn: () => {
        const { from, to, by, filter, zone } = asked;
        const fields = fieldsOf(filter);
        fields.set("from", from);
        fields.set("to", to);
        fields.set("groupBy", by.join(","));
        if (zone === "local") fields.set("timeZone", localZone());
        return get(`/proxy/v1/usage?${fields}`);
      },
    }),
  /** Single requests since a moment, the newest first. */
  calls: (asked: Calls) =>
    queryOptions({ queryKey: [...CALLS, asked], queryFn: () => readCalls(asked) }),
  call: (id: string) =>
    queryOptions({
      queryKey: ["call", id],
      queryFn: () => get(`/proxy/v1/audit/${encodeURIComponent(id)}`),
    }),
};

/** People of the tenant; only for those who may see them. */
export const usersQuery = queryOptions({
  queryKey: ["users"],
  queryFn: () => list("/api/v1/users"),
});

// No event tells of a single request. Agents do not spend without events of their own; what tokens
// and SDKs spend is told by `usage:recorded`, where the server has it.
onLive({
  on: ["agent:*", "budget:*", "usage:*"],
  invalidate: () => [USAGE, CALLS],
  everyMs: 5_000,
});
onLive({ on: "user:*", invalidate: () => [usersQuery.queryKey] });

async function readCalls({ since, filter, without }: Calls) {
  const fields = fieldsOf(filter);
  if (without !== undefined) fields.set(without, "");
  fields.set("limit", String(PAGE));
  const calls: ModelCall[] = [];
  for (;;) {
    const { logs, next } = await get(`/proxy/v1/audit?${fields}`);
    const fresh = logs.filter(({ timestamp }) => Date.parse(timestamp) >= since);
    calls.push(...fresh);
    if (!next || fresh.length < logs.length || logs.length < PAGE) return { calls, isCut: false };
    if (calls.length >= MOST) return { calls, isCut: true };
    fields.set("before", next);
  }
}

function fieldsOf(filter: Filter): URLSearchParams {
  const set = Object.entries(filter).filter(([, value]) => value !== undefined && value !== "");
  return new URLSearchParams(set as [string, string][]);
}
