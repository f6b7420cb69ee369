import type { Session } from "../api/types";

/** What one must be allowed: `resource:action:reach`, such as `agent:execute:team`. */
export type Need = `${string}:${string}:${Reach}`;

type Reach = "own" | "team" | "all";

/** From near to far. */
const REACHES = ["own", "team", "all"] as const;

/** Whether somebody with this session may do something; if not, why, in a sentence. */
export function refusal(
  session: Pick<Session, "role" | "permissions" | "scopes">,
  need: Need,
): string | undefined {
  const [resource = "", action = "", reach = ""] = need.split(":");
  const permissions = session.permissions ?? [];
  if (!permissions.some((one) => covers(one, resource, action, reach))) {
    return `Your role ${session.role} does not allow this; it needs ${need}.`;
  }
  const scopes = session.scopes ?? [];
  if (scopes.length > 0 && !scopes.some((scope) => covers(scope, resource, action, reach))) {
    return `Your key is narrowed to ${scopes.join(", ")}; this needs ${need}.`;
  }
  return undefined;
}

function covers(scope: string, resource: string, action: string, reach: string): boolean {
  const [ofResource, ofAction, ofReach = ""] = scope.split(":");
  return (
    (ofResource === "*" || ofResource === resource) &&
    (ofAction === "*" || ofAction === action) &&
    distance(ofReach === "*" ? "all" : ofReach) >= distance(reach)
  );
}

function distance(reach: string): number {
  return REACHES.indexOf(reach as Reach);
}
