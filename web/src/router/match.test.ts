import { describe, expect, it } from "vitest";
import { hrefOf, placeOf, restOf } from "./match";

describe("places", () => {
  it("are read from the address", () => {
    expect(placeOf({ pathname: "/dashboard/", search: "" }).path).toBe("/");
    expect(placeOf({ pathname: "/dashboard", search: "" }).path).toBe("/");
    expect(placeOf({ pathname: "/dashboard/agents/", search: "?a=1" })).toEqual({
      path: "/agents",
      search: "?a=1",
    });
  });

  it("keep the project when the page changes, and nothing else", () => {
    const here = { path: "/agents", search: "?project=p1&status=busy" };
    expect(hrefOf("/beads", here)).toBe("/dashboard/beads?project=p1");
    expect(hrefOf("/beads?project=p2", here)).toBe("/dashboard/beads?project=p2");
    expect(hrefOf("/", { path: "/", search: "" })).toBe("/dashboard/");
  });

  it("belong to the page whose path they begin with", () => {
    expect(restOf("/agents", "/agents")).toEqual([]);
    expect(restOf("/agents/a%2F1/cost", "/agents")).toEqual(["a/1", "cost"]);
    expect(restOf("/agentsmith", "/agents")).toBeUndefined();
    expect(restOf("/agents", "/")).toBeUndefined();
    expect(restOf("/agents/%E0%A4%A", "/agents")).toEqual(["%E0%A4%A"]);
  });
});
