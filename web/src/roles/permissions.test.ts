import { describe, expect, it } from "vitest";
import { type Need, refusal } from "./permissions";

const ROLES = ["admin", "operator", "developer", "viewer"];

describe("roles", () => {
  // The same table as `roles_may_what_the_matrix_says` of the server.
  it.each<[Need, boolean[]]>([
    ["task:create:own", [true, true, true, false]],
    ["task:create:team", [true, true, false, false]],
    ["task:delete:own", [true, true, false, false]],
    ["agent:execute:team", [true, true, false, false]],
    ["agent:execute:own", [true, true, true, false]],
    ["session:read:team", [true, true, true, true]],
    ["event:read:team", [true, true, true, true]],
    ["event:create:team", [true, true, true, false]],
    ["project:read:team", [true, true, true, true]],
    ["project:create:team", [true, false, false, false]],
    ["user:read:team", [true, false, false, false]],
    ["secret:read:team", [true, false, false, false]],
    ["tenant:create:all", [true, false, false, false]],
    ["key:create:own", [true, true, true, true]],
    ["key:create:team", [true, false, false, false]],
  ])("%s is for the same roles as on the server", (need, may) => {
    expect(ROLES.map((role) => refusal({ role, scopes: [] }, need) === undefined)).toEqual(may);
  });

  it("a narrowed key may do less than its role, and says so", () => {
    const session = { role: "admin", scopes: ["event:*:team", "*:read:*"] };
    expect(refusal(session, "event:create:team")).toBeUndefined();
    expect(refusal(session, "agent:read:all")).toBeUndefined();
    expect(refusal(session, "agent:execute:team")).toMatch(/narrowed to event:\*:team/);
  });
});
