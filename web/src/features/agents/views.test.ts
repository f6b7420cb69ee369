import { describe, expect, it } from "vitest";
import { fakeAgent } from "../../../tests/fakeAgent";
import { byAttention, matches, viewOf } from "./views";

const ANY = { text: "", view: "", runtime: "", model: "" };

describe("agents", () => {
  it("come in the order in which they need a person", () => {
    const agents = ["offline", "idle", "busy", "error", "paused", "waiting"].map((view) =>
      fakeAgent({ id: view, view }),
    );
    expect(byAttention(agents).map((agent) => agent.id)).toEqual([
      "waiting",
      "error",
      "busy",
      "paused",
      "idle",
      "offline",
    ]);
  });

  it("are starting before they do anything else", () => {
    expect(viewOf(fakeAgent({ view: "busy", lifecycleState: "spawning" }))).toBe("starting");
  });

  it("are found by words, state, runtime and model", () => {
    const agent = fakeAgent({ label: "worker-1", view: "busy", model: "m1", task: "Fix login" });
    expect(matches(agent, { ...ANY, text: "LOGIN" })).toBe(true);
    expect(matches(agent, { ...ANY, view: "busy", model: "m1" })).toBe(true);
    expect(matches(agent, { ...ANY, view: "idle" })).toBe(false);
    expect(matches(agent, { ...ANY, runtime: "gvisor" })).toBe(false);
  });
});
