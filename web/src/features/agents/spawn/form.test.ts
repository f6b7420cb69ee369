import { describe, expect, it } from "vitest";
import { fakeAgent } from "../../../../tests/fakeAgent";
import { ApiError } from "../../../api/client";
import { costSoFar, EMPTY_FORM, faultsOf, fieldOf, requestOf, spawnCli } from "./form";

const refused = (code: string, message: string) => new ApiError(400, { code, message });

describe("the form for a new agent", () => {
  it("sends only what was chosen", () => {
    expect(requestOf({ ...EMPTY_FORM, task: " Fix it " })).toEqual({ task: "Fix it" });
    expect(
      requestOf({
        ...EMPTY_FORM,
        bead: "app-1",
        sandbox: "workspace+net",
        allow: "a.org, b.org",
        budget: "2.5",
      }),
    ).toEqual({
      bead: "app-1",
      sandbox: "workspace+net",
      allow: ["a.org", "b.org"],
      budgetMicros: 2_500_000,
    });
  });

  it("is the same on the command line", () => {
    expect(spawnCli({ ...EMPTY_FORM, task: "Fix it", sandbox: "none", budget: "$5" })).toBe(
      'godel agent spawn "Fix it" --sandbox none --no-walls --budget 5',
    );
  });

  it("says what is missing at the field", () => {
    expect(faultsOf(EMPTY_FORM)).toHaveProperty("task");
    expect(faultsOf({ ...EMPTY_FORM, bead: "app-1", budget: "much" })).toEqual({
      budget: "Write an amount such as 5 or 2.50.",
    });
  });

  it("puts refusals at the field that they are about", () => {
    expect(fieldOf(refused("bead_not_found", 'there is no bead "x"'))).toBe("bead");
    expect(fieldOf(refused("harness_not_found", "claude is not on this machine"))).toBe("harness");
    expect(fieldOf(refused("invalid_field", "a budget must be more than 0"))).toBe("budget");
    expect(fieldOf(refused("stopped", "everything stands still"))).toBeUndefined();
  });

  it("tells what such agents have cost", () => {
    const agents = [10, 30, 20].map((spentMicros) =>
      fakeAgent({ status: "completed", spentMicros }),
    );
    expect(costSoFar([...agents, fakeAgent({ spentMicros: 999 })], EMPTY_FORM)).toEqual({
      runs: 3,
      middle: 20,
      most: 30,
    });
    expect(costSoFar(agents, { role: "reviewer", model: "" })).toBeUndefined();
  });
});
