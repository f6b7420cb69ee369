import { describe, expect, it } from "vitest";
import { refusal } from "./permissions";

describe("roles", () => {
  const developer = {
    role: "developer",
    permissions: ["agent:execute:own", "event:*:team", "agent:read:team"],
    scopes: [],
  };

  it("may what the server says that its role may, and what is nearer", () => {
    expect(refusal(developer, "agent:execute:own")).toBeUndefined();
    expect(refusal(developer, "agent:read:own")).toBeUndefined();
    expect(refusal(developer, "event:create:team")).toBeUndefined();
  });

  it("may nothing else, and says what it would need", () => {
    expect(refusal(developer, "agent:execute:team")).toMatch(/needs agent:execute:team/);
    expect(refusal(developer, "event:read:all")).toMatch(/your role developer/i);
    expect(refusal({ ...developer, permissions: [] }, "agent:read:own")).toMatch(/does not allow/);
  });

  it("a narrowed key may do less than its role, and says so", () => {
    const session = {
      role: "admin",
      permissions: ["*:*:all"],
      scopes: ["event:*:team", "*:read:*"],
    };
    expect(refusal(session, "event:create:team")).toBeUndefined();
    expect(refusal(session, "agent:read:all")).toBeUndefined();
    expect(refusal(session, "agent:execute:team")).toMatch(/narrowed to event:\*:team/);
  });
});
