import { describe, expect, it } from "vitest";
import { fakeAgent } from "../../../tests/fakeAgent";
import { fakeLanding } from "../../../tests/fakeReview";
import type { Agent, Bead } from "../../api/types";
import { bead } from "../beads/fakeBead";
import { expectedCost, meanCostOf } from "./costs";
import { landedAtOf, Past, worksOf } from "./past";

const at = (time: string) => `2026-11-16T${time}:00Z`;
const agent = (of: string, from: string, to?: string, special: Partial<Agent> = {}) =>
  fakeAgent({
    bead: of,
    spawnedAt: at(from),
    ...(to && { completedAt: at(to), status: "completed" }),
    ...special,
  });
const done = (id: string, fields: Partial<Bead> = {}) =>
  bead(id, { status: "done", updatedAt: at("23:00"), ...fields });
const byId = (...beads: Bead[]) => new Map(beads.map((one) => [one.id, one]));
const landings = (...landed: (readonly [string, string])[]) =>
  landedAtOf({
    items: [
      {
        projectId: "p",
        landings: landed.map(([id, end]) =>
          fakeLanding({ bead: id, landed: true, endedAt: at(end) }),
        ),
      },
    ],
  });
const convoy = (...beads: string[]) => ({ beads, projectId: "p" });

describe("C5 what finished beads took", () => {
  it("is counted from the first agent's start to the landing", () => {
    const works = worksOf({ items: [agent("a", "10:05", "10:09"), agent("a", "10:00", "10:02")] });
    expect(works.a).toEqual({ beganAt: at("10:00"), endedAt: at("10:09"), isWorking: false });
    const past = new Past(byId(done("a")), { works, landedAt: landings(["a", "10:12"]) });
    expect(past.paceOf(convoy("a"))).toEqual({ meanSeconds: 720, beads: 1, isOwn: true });
  });

  it("ends with the agent if nothing landed, and a comment years later changes nothing", () => {
    const works = worksOf({ items: [agent("a", "10:00", "10:09")] });
    const later = done("a", { updatedAt: "2030-01-01T00:00:00Z" });
    expect(new Past(byId(later), { works }).paceOf(convoy("a"))?.meanSeconds).toBe(540);
    const forgotten = worksOf({ items: [agent("a", "10:00", "22:00")] });
    const closed = done("a", { updatedAt: at("10:03") });
    expect(new Past(byId(closed), { works: forgotten }).paceOf(convoy("a"))?.meanSeconds).toBe(180);
  });

  it("prefers beads of the convoy to others of the project, and never looks into another", () => {
    const works = worksOf({
      items: [
        agent("own", "10:00", "10:04"),
        agent("near", "10:00", "10:10"),
        agent("far", "10:00", "20:00"),
      ],
    });
    const beads = byId(done("own"), done("near"), done("far", { projectId: "q" }), bead("left"));
    const past = new Past(beads, { works });
    expect(past.paceOf(convoy("own", "left"))?.meanSeconds).toBe(240);
    expect(past.paceOf(convoy("left"))).toEqual({ meanSeconds: 420, beads: 2, isOwn: false });
    expect(past.paceOf({ beads: ["left"], projectId: "r" })).toBeUndefined();
  });

  it("what is not done, was dropped, or has no agent that ended is no measure", () => {
    const works = worksOf({
      items: [agent("open", "10:00", "10:04"), agent("dropped", "10:00", "10:04")],
    });
    const alive = worksOf({ items: [agent("alive", "10:00")] });
    const dropped = done("dropped", { resolution: { kind: "wont-do" } });
    const beads = byId(bead("open"), dropped, done("alive"), done("by-hand"));
    const past = new Past(beads, { works: { ...works, ...alive } });
    expect(past.paceOf(convoy("open", "dropped", "alive", "by-hand"))).toBeUndefined();
  });

  it("knows who works: neither who ended nor who is paused", () => {
    const works = worksOf({
      items: [
        agent("busy", "10:00", "10:04"),
        agent("busy", "10:05"),
        agent("paused", "10:00", undefined, { status: "paused" }),
        agent("failed", "10:00", undefined, { status: "failed" }),
      ],
    });
    const working = Object.keys(works).filter((id) => works[id]?.isWorking);
    expect(working).toEqual(["busy"]);
  });
});

describe("C5 what beads probably cost", () => {
  const costs = new Map([
    ["a", 100],
    ["b", 300],
    ["left", 50],
    ["dear", 900],
  ]);
  const beads = [done("a"), done("b"), bead("left"), bead("dear"), bead("new")];

  it("is the average of what is finished, or what is spent already if that is more", () => {
    const mean = meanCostOf(byId(...beads), costs);
    expect(mean).toEqual({ micros: 200, beads: 2 });
    expect(mean && expectedCost(beads, costs, mean)).toBe(100 + 300 + 200 + 900 + 200);
  });

  it("is not known while nothing with a cost is finished", () => {
    expect(meanCostOf(byId(bead("left")), costs)).toBeUndefined();
    expect(meanCostOf(byId(...beads), undefined)).toBeUndefined();
  });
});
