import { describe, expect, it } from "vitest";
import { fakeAgent } from "../../../../tests/fakeAgent";
import { ApiError } from "../../../api/client";
import {
  capabilityWords,
  costSoFar,
  EMPTY_FORM,
  faultsOf,
  fieldOf,
  requestOf,
  runtimeOptions,
  spawnCli,
  whyNoRuntime,
} from "./form";

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

  it("has a name and an end if they are given", () => {
    const form = { ...EMPTY_FORM, task: "Fix it", name: "ann", timeout: "1h 30m" };
    expect(requestOf(form)).toEqual({ task: "Fix it", label: "ann", timeoutSeconds: 5_400 });
    expect(spawnCli(form)).toBe("godel agent spawn 'Fix it' --name ann --timeout 90m");
    expect(faultsOf({ ...form, timeout: "soon" })).toHaveProperty("timeout");
  });

  it("offers what the server offers, and says what that can do", () => {
    const runtimes = [
      {
        name: "worktree",
        about: "",
        offered: true,
        snapshot: "workspace",
        pause: "cold",
        network: "domain",
      },
      { name: "gvisor", about: "", offered: false },
    ];
    expect(runtimeOptions(runtimes)).toEqual([
      { value: "worktree", title: "worktree", isRefused: false },
      { value: "gvisor", title: "gvisor: not offered by this server", isRefused: true },
    ]);
    expect(capabilityWords("", runtimes)).toBe(
      "worktree: snapshots are workspace only, a pause ends its processes, the network is limited by host.",
    );
    expect(capabilityWords("gvisor", runtimes)).toMatch(/does not offer gvisor/);
    expect(whyNoRuntime("gvisor", runtimes)).toMatch(/does not offer gvisor/);
    expect(whyNoRuntime("", runtimes)).toBeUndefined();
    expect(whyNoRuntime("gvisor", undefined), "while it is not known").toBeUndefined();
    expect(capabilityWords("", undefined)).toBeUndefined();
  });

  it("is the same on the command line", () => {
    expect(spawnCli({ ...EMPTY_FORM, task: "Fix it", sandbox: "none", budget: "$5" })).toBe(
      "godel agent spawn 'Fix it' --sandbox none --no-walls --budget 5",
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
    expect(fieldOf(refused("agent_name_taken", "another has it"))).toBe("name");
    const told = { code: "invalid_field", message: "too long", field: "label" };
    expect(fieldOf(new ApiError(400, told))).toBe("name");
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
