import { describe, expect, it } from "vitest";
import { fakeAgent } from "../../../tests/fakeAgent";
import { byAttention, byTeam, matches, tallyOf, upTime, viewOf } from "./views";

const ANY = { text: "", view: "", runtime: "", model: "", team: "" };

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

  it("are grouped by team, those without one last", () => {
    const agents = [
      fakeAgent({ id: "a" }),
      fakeAgent({ id: "b", teamId: "t1", view: "waiting" }),
      fakeAgent({ id: "c", teamId: "t1" }),
    ];
    const groups = byTeam(agents, new Map([["t1", "Release"]]));
    expect(groups.map(({ title, agents }) => [title, agents.length])).toEqual([
      ["Release", 2],
      ["No team", 1],
    ]);
    expect(tallyOf(groups[0]?.agents ?? [])).toBe("1 waiting for you, 1 busy");
    expect(agents.filter((agent) => matches(agent, { ...ANY, team: "none" }))).toHaveLength(1);
  });

  it("are up until they end", () => {
    const agent = fakeAgent({ spawnedAt: "2026-11-15T10:00:00Z" });
    expect(upTime(agent, Date.parse("2026-11-15T10:05:00Z"))).toBe("5m");
    const ended = { ...agent, completedAt: "2026-11-15T12:00:00Z" };
    expect(upTime(ended, Date.parse("2026-11-16T10:05:00Z"))).toBe("2h");
  });
});
