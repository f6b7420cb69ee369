import { describe, expect, it } from "vitest";
import { bead } from "./fakeBead";
import {
  type BeadForm,
  createCli,
  estimateFault,
  labelCounts,
  minutesIn,
  saidBefore,
  shownAfter,
  spanOf,
} from "./fields";

const FORM: BeadForm = {
  title: "Fix it",
  description: "",
  type: "bug",
  priority: "high",
  acceptance: "",
  labels: "",
  parent: "",
  blockedBy: "",
  estimate: "",
  budget: "",
};

describe("an estimate", () => {
  it("is read as people write it, and written back exactly", () => {
    for (const [text, minutes] of [
      ["90m", 90],
      ["90", 90],
      ["2h", 120],
      ["1h 30m", 90],
      ["1h30m", 90],
      ["1.5h", 90],
      ["3d", 4320],
      ["", 0],
    ] as const) {
      expect(minutesIn(text)).toBe(minutes);
    }
    expect(spanOf(90)).toBe("1h 30m");
    expect(minutesIn(spanOf(4_405))).toBe(4_405);
    expect(estimateFault("soon")).toBeDefined();
    expect(estimateFault("2h soon")).toBeDefined();
    expect(estimateFault("2h")).toBeUndefined();
  });
});

describe("a change", () => {
  it("shows what is left after it, and knows what was there before", () => {
    const one = bead("a", {
      estimate: 60,
      parentBead: "b",
      defer: "2099-01-01T00:00:00Z",
      labels: ["x"],
      metadata: { ticket: "1", keep: 2 },
    });
    const change = {
      estimate: 0,
      budget: 5_000_000,
      parentBead: "",
      defer: "",
      labels: ["y"],
      metadata: { ticket: null, fresh: "3" },
    };
    expect(shownAfter(one, change)).toEqual({
      estimate: null,
      budget: 5_000_000,
      parentBead: null,
      defer: null,
      labels: ["y"],
      metadata: { keep: 2, fresh: "3" },
    });
    expect(saidBefore(one, change)).toEqual({
      estimate: 60,
      budget: 0,
      parentBead: "b",
      defer: "2099-01-01T00:00:00Z",
      labels: ["x"],
      metadata: { ticket: "1", fresh: null },
    });
    expect(shownAfter(one, { title: "New" })).toEqual({ title: "New" });
    expect(saidBefore(one, { title: "New" })).toEqual({ title: "a" });
  });

  it("is not taken back to a time that has passed: the server would not take it", () => {
    const change = { defer: "2099-01-01T00:00:00Z" };
    expect(saidBefore(bead("a"), change)).toEqual({ defer: "" });
    expect(saidBefore(bead("a", { defer: "2020-01-01T00:00:00Z" }), change)).toEqual({ defer: "" });
  });
});

describe("labels", () => {
  it("are counted over many beads", () => {
    const beads = [bead("1", { labels: ["x", "y"] }), bead("2", { labels: ["y"] })];
    expect(labelCounts(beads)).toEqual([
      ["y", 2],
      ["x", 1],
    ]);
  });
});

describe("the command of a new bead", () => {
  it("names what was filled in, quoted for a shell", () => {
    expect(createCli(FORM)).toBe("godel bead create 'Fix it' --type bug --priority high");
    const more = {
      ...FORM,
      labels: "auth, web",
      parent: "app-1",
      blockedBy: "app-2 app-3",
      estimate: "1h 30m",
      budget: "$2.50",
    };
    expect(createCli(more)).toBe(
      "godel bead create 'Fix it' --type bug --priority high --label auth --label web --parent app-1 --blocked-by app-2 --blocked-by app-3 --estimate 1h30m --budget 2.50",
    );
  });
});
