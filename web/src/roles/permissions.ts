import type { Session } from "../api/types";

/** What one must be allowed: `resource:action:reach`, such as `agent:execute:team`. */
export type Need = `${string}:${string}:${Reach}`;

type Reach = "own" | "team" | "all";

/** From near to far. */
const REACHES = ["own", "team", "all"] as const;

/** The same rules as the server's: `crates/model/src/permission.rs`. */
const OPERATED = ["task", "agent", "team", "workflow", "session", "bead", "convoy", "review"];
const DEVELOPED = OPERATED.filter((resource) => resource !== "team");
const WORK = [...OPERATED, "project", "event", "cost", "metric"];
const MAKES = ["create", "read", "update", "execute"];

/** Whether somebody with this session may do something; if not, why, in a sentence. */
export function refusal(session: Pick<Session, "role" | "scopes">, need: Need): string | undefined {
  const [resource = "", action = "", reach = ""] = need.split(":");
  if (!roleMay(session.role, resource, action, distance(reach))) {
    return `Your role ${session.role} does not allow this; it needs ${need}.`;
  }
  const scopes = session.scopes ?? [];
  if (scopes.length > 0 && !scopes.some((scope) => covers(scope, resource, action, reach))) {
    return `Your key is narrowed to ${scopes.join(", ")}; this needs ${need}.`;
  }
  return undefined;
}

function roleMay(role: string, resource: string, action: string, reach: number): boolean {
  if (role === "admin") return true;
  const inTeam = reach <= distance("team");
  const isOwn = reach === distance("own");
  if (action === "read" && inTeam && WORK.includes(resource)) return true;
  if (isOwn && (resource === "key" || resource === "account")) return true;
  if (role === "viewer") return false;
  if (resource === "event" && action === "create" && inTeam) return true;
  if (role === "operator") return inTeam && OPERATED.includes(resource);
  return role === "developer" && isOwn && MAKES.includes(action) && DEVELOPED.includes(resource);
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
