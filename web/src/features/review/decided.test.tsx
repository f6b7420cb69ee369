import { QueryClient } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fakeFile, fakeHunk } from "../../../tests/fakeReview";
import type { Review, ReviewDecision, ReviewDiff } from "../../api/types";
import { Rehearsal } from "../../change/useChange";
import { rehearse, type Verdict } from "./changes";
import { countLines, decidedByKey, standingOf, verdictOf } from "./decided";
import { LineView } from "./LineView";
import { diffKey, reviewKey } from "./queries";
import { lineRows } from "./rows";
import { Standing } from "./Standing";

const HUNK = fakeHunk([" a", "-b", "+c", " d", "+e"]);

function decision(verdict: string, from?: number, to = from): ReviewDecision {
  const lines = from === undefined || to === undefined ? null : { from, to };
  const at = "2026-11-15T10:00:00Z";
  return { path: "src/main.rs", key: "h1", verdict, lines, bound: "bound", by: "user:ann", at };
}

const decided = (...all: ReviewDecision[]) => decidedByKey(all).get("h1");

describe("what was decided about lines", () => {
  it("R3 stands as the server says: some accepted are undecided, some rejected are mixed", () => {
    const standing = (...all: ReviewDecision[]) => standingOf(decided(...all), HUNK);
    expect(standing()).toBe("undecided");
    expect(standing(decision("accepted", 1, 2))).toBe("undecided");
    expect(standing(decision("rejected", 1, 2))).toBe("mixed");
    expect(standing(decision("accepted"), decision("rejected", 4))).toBe("mixed");
    expect(standing(decision("rejected", 4), decision("accepted"))).toBe("accepted");
    expect(standing(decision("accepted", 1, 2), decision("accepted", 3, 4))).toBe("accepted");
    expect(standing(decision("rejected", 1, 4))).toBe("rejected");
    expect(standing(decision("rejected", 1), decision("edited"))).toBe("edited");
    expect(standingOf(decided(decision("rejected")))).toBe("rejected");
  });

  it("R3 is known line by line, and the later word counts", () => {
    const all = decided(decision("accepted", 1, 2), decision("rejected", 2));
    expect([1, 2, 3, null].map((at) => verdictOf(all, at))).toEqual([
      ...["accepted", "rejected", undefined, undefined],
    ]);
    expect(countLines(HUNK, all)).toEqual({ accepted: 1, rejected: 1, total: 4 });
    expect(verdictOf(decided(decision("accepted", 1), decision("edited")), 1)).toBeUndefined();
  });
});

function rehearsed(verdict: Verdict, lines = { from: 1, to: 2 }) {
  const client = new QueryClient();
  const tally = { accepted: 0, rejected: 0, undecided: 1 };
  client.setQueryData(reviewKey("app-1"), { decisions: [], tally } as Partial<Review>);
  client.setQueryData(diffKey("app-1"), {
    files: [fakeFile({ hunks: [HUNK] })],
    tally,
  } as Partial<ReviewDiff>);
  const parts = [{ key: "h1", lines }];
  rehearse(new Rehearsal(client), "app-1", { verdict, parts, name: "" }, "user:ann");
  return {
    review: client.getQueryData<Review>(reviewKey("app-1")),
    diff: client.getQueryData<ReviewDiff>(diffKey("app-1")),
  };
}

describe("a decision about lines that is on its way", () => {
  it.each([
    ["accepted", "undecided", { accepted: 0, rejected: 0, undecided: 1 }],
    ["rejected", "mixed", { accepted: 0, rejected: 1, undecided: 0 }],
  ] as const)("R3 shows what the server will say of %s", (verdict, standing, tally) => {
    const { review, diff } = rehearsed(verdict);
    expect(diff?.files[0]?.hunks[0]?.standing).toBe(standing);
    expect([diff?.tally, review?.tally]).toEqual([tally, tally]);
    const made = { key: "h1", path: "src/main.rs", verdict, lines: { from: 1, to: 2 } };
    expect(review?.decisions).toMatchObject([{ ...made, by: "user:ann", bound: "bound" }]);
  });

  it("R3 decides the hunk when no line is left", () => {
    const { diff } = rehearsed("accepted", { from: 1, to: 4 });
    expect(diff?.tally).toEqual({ accepted: 1, rejected: 0, undecided: 0 });
  });
});

describe("decided lines on the page", () => {
  it.each([
    ["accepted", "Accepted"],
    ["rejected", "Rejected"],
  ] as const)("R3 have a mark and a word on each side: %s", (verdict, word) => {
    const [row] = lineRows(fakeHunk(["-b", "+c"]), { isSplit: true, hidesSpace: false });
    if (!row) throw new Error("a hunk has lines");
    const { container, rerender } = render(
      <LineView row={row} isSplit isChosen={false} leftVerdict={verdict} />,
    );
    const marked = () => [...container.querySelectorAll<HTMLElement>("[data-verdict]")];
    expect(marked().map(({ dataset }) => [dataset.kind, dataset.verdict])).toEqual([
      ["removed", verdict],
    ]);
    expect(screen.getAllByText(word)).toHaveLength(1);
    rerender(<LineView row={row} isSplit={false} isChosen={false} rightVerdict={verdict} />);
    expect(marked().map(({ dataset }) => [dataset.kind, dataset.verdict])).toEqual([
      ["added", verdict],
    ]);
  });

  it("R3 are counted on the bar of the hunk", () => {
    const lines = { accepted: 2, rejected: 1, total: 7 };
    const { rerender } = render(<Standing standing="mixed" by={undefined} lines={lines} />);
    expect(screen.getByText("Some lines rejected")).toBeDefined();
    expect(screen.getByText("3 of 7 lines decided")).toBeDefined();
    const begun = { ...lines, rejected: 0 };
    rerender(<Standing standing="undecided" by={undefined} lines={begun} />);
    expect(screen.getByText("Some lines accepted")).toBeDefined();
    expect(screen.getByText("2 of 7 lines decided")).toBeDefined();
    rerender(<Standing standing="accepted" by={undefined} lines={{ ...begun, accepted: 7 }} />);
    expect(screen.queryByText(/lines decided/)).toBeNull();
  });
});
