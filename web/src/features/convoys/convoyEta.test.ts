import { describe, expect, it } from "vitest";
import { fakeAgent } from "../../../tests/fakeAgent";
import type { Agent, Bead, Convoy, ConvoyRun } from "../../api/types";
import { shortTime } from "../../ui/format";
import { bead } from "../beads/fakeBead";
import { BeadGraph } from "../beads/graph";
import { hasEnd, planWords, wordsFor } from "./convoyEta";
import { about, span } from "./etaWords";
import { Past, worksOf } from "./past";

const NOW = Date.parse("2026-11-16T12:00:00Z");
const TOOK = { spawnedAt: "2026-11-16T10:00:00Z", completedAt: "2026-11-16T10:08:00Z" };
/** A finished bead that took eight minutes, and its agent. */
const finished = (id: string) => bead(id, { status: "done", updatedAt: "2026-11-16T11:00:00Z" });
const itsAgent = (id: string) => fakeAgent({ bead: id, status: "completed", ...TOOK });
const busy = (id: string) => fakeAgent({ bead: id, spawnedAt: "2026-11-16T11:57:00Z" });
const waits = (target: string) => ({ links: [{ type: "blocks", target }] });
const running = (agents: number): ConvoyRun => ({
  convoy: "c",
  state: "running",
  agents,
  running: 1,
});

function convoyOf(beads: readonly Bead[], special: Partial<Convoy> = {}): Convoy {
  const [createdAt, updatedAt] = ["2026-11-16T09:00:00Z", "2026-11-16T09:00:00Z"];
  const ids = beads.map(({ id }) => id);
  const named = { id: "c", projectId: "p", name: "Release", beads: ids, status: "active" };
  return { ...named, createdAt, updatedAt, ...special };
}

function known(own: Bead[], agents: Agent[], run: ConvoyRun | null = null, others: Bead[] = []) {
  const graph = new BeadGraph([...own, ...others]);
  const past = new Past(graph.byId, { works: worksOf({ items: agents }) });
  return { convoy: convoyOf(own), graph, past, run, now: NOW };
}

describe("C5 what the head of a convoy says about its end", () => {
  it("says how long, when, and how that was reckoned", () => {
    const own = [finished("a"), bead("b"), bead("c", waits("b")), bead("d"), bead("e")];
    const words = wordsFor(known(own, [itsAgent("a")], running(2)));
    expect(words.text).toBe("about 16 min left");
    expect(words.title).toBe(
      `Done around ${shortTime("2026-11-16T12:16:00Z")}. 4 beads left in 2 waves, up to 2 agents at once; ` +
        "1 finished bead took 8 min on average, from the agent’s start to the landing.",
    );
  });

  it("goes down while somebody works", () => {
    const own = [finished("a"), bead("b", { status: "in-progress" })];
    const words = wordsFor(known(own, [itsAgent("a"), busy("b")]));
    expect(words.text).toBe("about 5 min left");
    expect(words.title).toContain("up to 1 agent at once");
  });

  it("says so if it takes longer than it should", () => {
    const late = fakeAgent({ bead: "b", spawnedAt: "2026-11-16T11:00:00Z" });
    const own = [finished("a"), bead("b", { status: "in-progress" })];
    const words = wordsFor(known(own, [itsAgent("a"), late]));
    expect(words.text).toBe("longer than usual");
    expect(words.title).toContain("1 bead took longer than that already.");
  });

  it("what nobody works on is said as what it would take, with no time of day", () => {
    const own = [finished("a"), ...["b", "c", "d", "e", "f"].map((id) => bead(id))];
    const words = wordsFor(known(own, [itsAgent("a")]));
    expect(words.text).toBe("about 10 min if started");
    expect(words.title).toMatch(/^5 beads left in 1 wave, up to 4 agents at once; /);
    const stopped = { ...running(1), state: "stopped" };
    expect(wordsFor(known(own, [itsAgent("a")], stopped)).text).toBe("about 40 min if started");
  });

  it("measures by the project if nothing of it is finished, and says so", () => {
    const words = wordsFor(known([bead("b")], [itsAgent("x")], null, [finished("x")]));
    expect(words.text).toBe("about 8 min if started");
    expect(words.title).toContain("none of it is finished yet, but 1 finished bead of its project");
  });

  it("makes up nothing: it says why there is no estimate", () => {
    const nothing = wordsFor(known([bead("b")], [], running(4)));
    expect(nothing.text).toBe("no estimate yet");
    expect(nothing.title).toContain("nothing to measure by");
    const circle = [finished("a"), bead("b", waits("c")), bead("c", waits("b"))];
    const tangled = wordsFor(known(circle, [itsAgent("a")]));
    expect(tangled.text).toBe("no estimate yet");
    expect(tangled.title).toContain("wait for each other");
  });

  it("what waits for people or for others is told, not guessed", () => {
    const reviewed = [finished("a"), bead("b", { status: "review" })];
    const words = wordsFor(known(reviewed, [itsAgent("a"), itsAgent("b")], running(4)));
    expect(words.text).toBe("waits for review");
    const own = [finished("a"), bead("b", waits("x"))];
    const outside = wordsFor(known(own, [itsAgent("a")], null, [bead("x")]));
    expect(outside.title).toContain("1 bead also waits for what is not in the convoy");
  });

  it("a convoy that is done, empty or archived has no end to come", () => {
    const [over, open] = [finished("a"), bead("b")];
    const graph = new BeadGraph([over, open]);
    expect(hasEnd(convoyOf([over, open]), graph)).toBe(true);
    expect(hasEnd(convoyOf([over]), graph)).toBe(false);
    expect(hasEnd(convoyOf([]), graph)).toBe(false);
    expect(hasEnd(convoyOf([open], { status: "archived" }), graph)).toBe(false);
  });

  it("the plan says the time for as many agents as are asked for", () => {
    const own = [finished("a"), bead("b"), bead("c")];
    expect(planWords(known(own, [itsAgent("a")]), 1)).toMatch(/^About 16 min: 2 beads left/);
    expect(planWords(known(own, [itsAgent("a")]), 2)).toMatch(/^About 8 min: 2 beads left/);
  });
});

describe("lengths of time in words", () => {
  it("has one unit, as people say it", () => {
    expect([0.2, 42, 60, 5_400, 7_200, 172_800].map(span)).toEqual([
      "1 s",
      "42 s",
      "1 min",
      "90 min",
      "2 h",
      "2 days",
    ]);
    expect([0, 59, 1_500].map(about)).toEqual(["under 1 min", "under 1 min", "about 25 min"]);
  });
});
