import { describe, expect, it } from "vitest";
import { fakeAgent } from "../../../tests/fakeAgent";
import { byAttention, byTeam, matches, sharesOf, tallyOf, upTime, viewOf } from "./views";

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

  it("G1 draw fewer than 200 cards of all teams together, and none of a folded one", () => {
    const team = (id: string, many: number) => ({
      id,
      title: id,
      agents: Array.from({ length: many }, () => fakeAgent({ teamId: id })),
    });
    const groups = ["a", "b", "c", "d", "e"].map((id) => team(id, 100));
    const drawn = (closed: string[]) => [...sharesOf([...groups, team("f", 3)], closed)];
    expect(drawn([])).toEqual([
      ...["a", "b", "c", "d"].map((id) => [id, 48]),
      ...[
        ["e", 0],
        ["f", 0],
      ],
    ]);
    expect(drawn(["a", "b"]).reduce((sum, [, many]) => sum + many, 0)).toBe(48 * 3 + 3);
    expect(drawn(["a"]).map(([id]) => id)).toEqual(["b", "c", "d", "e", "f"]);
  });

  it("are up until they end", () => {
    const agent = fakeAgent({ spawnedAt: "2026-11-15T10:00:00Z" });
    expect(upTime(agent, Date.parse("2026-11-15T10:05:00Z"))).toBe("5m");
    const ended = { ...agent, completedAt: "2026-11-15T12:00:00Z" };
    expect(upTime(ended, Date.parse("2026-11-16T10:05:00Z"))).toBe("2h");
  });
});
