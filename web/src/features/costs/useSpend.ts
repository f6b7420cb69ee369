import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { ModelCall } from "../../api/types";
import { useCan } from "../../roles/session";
import { setParams, useChoice, useParam, useParams } from "../../router/router";
import { useNow } from "../../ui/useNow";
import { agentQueries } from "../agents/queries";
import { useProject } from "../projects/queries";
import { costQueries, type Filter, usersQuery } from "./queries";
import { PRESETS, type Range, rangeOf, ZONES, type Zone } from "./range";
import { callsIn, cellsOfReport, isOfAgent, KINDS, type Kind, keyOf } from "./spend";

/** A range moves on with the clock, a minute at a time. */
const EVERY_MS = 60_000;

/** What the reader looks at; all of it is in the address. */
export function useView() {
  const [preset, setPreset] = useChoice("range", PRESETS, "30d");
  const [zone, setZone] = useChoice<Zone>("zone", ZONES, "utc");
  const [kind, setKind] = useChoice<Kind>("by", KINDS, "model");
  const [from] = useParam("from");
  const [to] = useParam("to");
  const now = useNow(EVERY_MS);
  const asked = rangeOf({ preset, from, to }, zone, now);
  // Only another range is another object, not every tick of the clock.
  const name = `${asked.start} ${asked.end} ${asked.step}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the name stands for the range
  const range = useMemo(() => asked, [name]);
  const isZoomed = from !== undefined && to !== undefined;
  const choosePreset = (next: typeof preset) => {
    setParams({ from: undefined, to: undefined });
    setPreset(next);
  };
  return { preset, choosePreset, zone, setZone, kind, setKind, range, isZoomed, now };
}

/** Whose spending is looked at. */
export interface Scope {
  filter: Filter;
  /** Only what belongs to none of this kind: work without an agent. The server has no filter for it. */
  without: Kind | undefined;
  /** What of it can be taken away on the page. */
  chips: readonly (readonly [Kind, string])[];
}

/** Only the spending of these; from the address, and the project from the top bar. */
export function useScope(): Scope {
  const params = useParams();
  const without = KINDS.find((kind) => kind === params.get("without"));
  const { projectId } = useProject();
  // The server narrows by none of these two: the project is the top bar's.
  const isAbove = (kind: Kind) => kind === "project" || kind === "kind";
  const text = KINDS.map((kind) => (isAbove(kind) ? "" : (params.get(kind) ?? ""))).join("\n");
  return useMemo(() => {
    const values = text.split("\n");
    const chips = KINDS.map((kind, at): [Kind, string] => [kind, values[at] ?? ""]);
    const set = chips.filter(([, value]) => value !== "");
    const filter = { ...Object.fromEntries(set), project: projectId };
    return { filter, without, chips: without ? [...set, [without, ""] as const] : set };
  }, [text, projectId, without]);
}

/** What was spent in a range, from the sums of the server: by day or hour of either zone. */
export function useSpend(range: Range, zone: Zone, kind: Kind, { filter, without }: Scope) {
  const by: string[] = [range.step, kind];
  if (without !== undefined && without !== kind) by.push(without);
  return useQuery({
    ...costQueries.usage({
      from: dayOf(range.buckets[0]),
      to: dayOf(range.buckets.at(-1)),
      by,
      filter,
      zone,
    }),
    select: (data) => cellsOfReport(data, kind, range, without),
  });
}

const dayOf = (bucket = "") => bucket.slice(0, "2026-11-16".length);

/** The single requests of a range. */
export function useCalls(range: Range, { filter, without }: Scope) {
  return useQuery({
    ...costQueries.calls({
      since: range.start,
      filter,
      without: without && isOfAgent(without) ? without : undefined,
    }),
    select: (data) => ({
      calls: callsIn(onlyWithout(data.calls, without), range),
      isCut: data.isCut,
    }),
  });
}

function onlyWithout(calls: readonly ModelCall[], kind: Kind | undefined): readonly ModelCall[] {
  if (kind === undefined || isOfAgent(kind)) return calls;
  return calls.filter((call) => keyOf(call, kind) === "");
}

/** What people call something: names instead of ids, as far as the reader may know them. */
export function useTitles(): (kind: Kind, key: string) => string {
  const { projects } = useProject();
  const params = useParams();
  const isTeam = params.get("by") === "team" || params.has("team");
  const isAllowed = useCan("user:read:team");
  const users = useQuery({ ...usersQuery, enabled: isAllowed });
  const teams = useQuery({ ...agentQueries.teams, enabled: isTeam });
  return (kind, key) => {
    if (key === "") return `No ${kind}`;
    if (kind === "project") return projects.find(({ id }) => id === key)?.name ?? key;
    if (kind === "user") return users.data?.items.find(({ id }) => id === key)?.name ?? key;
    if (kind === "kind") return key === "runtime" ? "machines" : key;
    if (kind === "team") return teams.data?.items.find(({ id }) => id === key)?.name ?? key;
    return key;
  };
}
