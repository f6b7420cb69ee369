import { queryOptions } from "@tanstack/react-query";
import { remove } from "../../../api/client";
import { serverNow, serverTimestamp } from "../../../api/clock";
import { type Listing, list } from "../../../api/list";
import type { AgentToken, NewAgentToken } from "../../../api/types";
import { useChange } from "../../../change/useChange";
import { onLive } from "../../../realtime/rules";
import { shellWord } from "../../../ui/format";
import { wordsIn } from "../../../ui/typed";
import { microsOf } from "../../budgets/budgets";

const KEY = ["agent-tokens"] as const;

/** Whoever may start agents may also give them tokens. */
export const MAY_CREATE = "agent:create:own";
/** Those of others are for admins and operators. */
export const MAY_LEAD_ALL = "agent:create:team";

/** All tokens that the reader may see, the oldest first. */
export const tokensQuery = queryOptions({
  queryKey: KEY,
  queryFn: () => list("/api/v1/agent-tokens"),
});

// Each agent gets one when it is started, so they may come fast.
onLive({
  on: ["key:agent-create", "key:agent-revoke"],
  everyMs: 3_000,
  invalidate: () => [KEY],
});

/** Whether a token works, and if not, why not. */
export function stateOf(
  { revokedAt, expiresAt }: AgentToken,
  now: number,
): "works" | "ended" | "revoked" {
  if (revokedAt) return "revoked";
  return expiresAt && Date.parse(expiresAt) <= now ? "ended" : "works";
}

/** What a token is for, in words; `nameOf` knows how projects and agents are called. */
export function purposeOf(
  { projectId, agent, bead, convoy }: AgentToken,
  nameOf: (kind: "project" | "agent", id: string) => string,
): string {
  const parts = [
    projectId && `project ${nameOf("project", projectId)}`,
    agent && `agent ${nameOf("agent", agent)}`,
    bead && `bead ${bead}`,
    convoy && `convoy ${convoy}`,
  ];
  return parts.filter(Boolean).join(", ");
}

/** What people type to make a token; an empty field does not narrow it. */
export const EMPTY_TOKEN = {
  name: "",
  project: "",
  agent: "",
  bead: "",
  convoy: "",
  models: "",
  budget: "",
  ends: "30d",
};

export type TokenValues = Record<keyof typeof EMPTY_TOKEN, string>;

const HOURS: Readonly<Record<string, number>> = { h: 1, d: 24 };

/** When something ends that lasts for a span such as `8h` or `30d`; nothing lasts for ever. */
function endOf(span: string): string | undefined {
  const [, number, unit = ""] = /^(\d+)([hd])$/.exec(span) ?? [];
  if (number === undefined) return undefined;
  const hours = Number(number) * (HOURS[unit] ?? 1);
  return new Date(serverNow() + hours * 3_600_000).toISOString();
}

/** What the server is asked to make; only what was said. */
export function tokenOf(values: TokenValues): NewAgentToken {
  const { name, project, agent, bead, convoy, models, budget, ends } = values;
  const expiresAt = endOf(ends);
  const budgetMicros = microsOf(budget);
  const names = { agent: agent.trim(), bead: bead.trim(), convoy: convoy.trim() };
  return {
    name: name.trim(),
    ...(project !== "" && { projectId: project }),
    ...Object.fromEntries(Object.entries(names).filter(([, value]) => value !== "")),
    ...(models.trim() !== "" && { models: wordsIn(models) }),
    ...(budgetMicros !== undefined && { budgetMicros }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

/** The same on the command line. */
export function createCli(values: TokenValues, project: string | undefined): string {
  const flags: [flag: string, value: string | undefined][] = [
    ["project", project],
    ["agent", values.agent.trim()],
    ["bead", values.bead.trim()],
    ["convoy", values.convoy.trim()],
    ["models", wordsIn(values.models).join(",")],
    ["budget", values.budget.trim().replace(/^\$/, "")],
    ["expires", values.ends],
  ];
  const told = flags.filter(([, value]) => value).map(([flag, value = ""]) => [flag, value]);
  const words = told.map(([flag, value = ""]) => ` --${flag} ${shellWord(value)}`).join("");
  return `godel token create ${shellWord(values.name.trim() || "NAME")}${words}`;
}

/** Ends a token for good. */
export function useRevokeToken() {
  return useChange<AgentToken, void>({
    what: (token) => `Revoke ${token.name}`,
    send: (token) => remove(`/api/v1/agent-tokens/${encodeURIComponent(token.id)}`),
    expect: (cache, token) =>
      cache.update<Listing<AgentToken>>(KEY, (listing) => ({
        ...listing,
        items: listing.items.map((one) =>
          one.id === token.id ? { ...one, revokedAt: serverTimestamp() } : one,
        ),
      })),
    settle: () => [KEY],
    done: (token) => `${token.name} works no more`,
  });
}
