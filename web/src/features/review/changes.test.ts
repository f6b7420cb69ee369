import { describe, expect, it } from "vitest";
import { fakeFile, fakeHunk } from "../../../tests/fakeReview";
import { tallyOf } from "./changes";
import { lastAt, spotOf, stretched } from "./lines";
import { nearest } from "./useReviewDesk";

describe("the tally", () => {
  it("counts as the server does", () => {
    const hunks = ["accepted", "edited", "mixed", "rejected", "undecided"].map((standing, at) =>
      fakeHunk([" a", "-b"], { key: `h${at}`, standing }),
    );
    const file = fakeFile({ key: "f", standing: "accepted", hunks });
    expect(tallyOf([file])).toEqual({ accepted: 3, rejected: 2, undecided: 1 });
  });
});

describe("lines of a hunk", () => {
  const hunk = fakeHunk([" a", "-b", "+c", " d", "+e"]);

  it("are chosen one after the other", () => {
    expect(lastAt(hunk)).toBe(4);
    const one = stretched(hunk, undefined, 1);
    expect(one).toEqual({ key: "h1", from: 1, to: 1 });
    expect(stretched(hunk, { key: "h1", from: 1, to: 4 }, 1)?.to).toBe(4);
    expect(stretched(hunk, one, -1)).toBeUndefined();
  });

  it("are what a comment is about", () => {
    const file = fakeFile({ hunks: [hunk] });
    expect(spotOf(file, hunk, undefined)).toMatchObject({ side: "new", line: 2 });
    expect(spotOf(file, hunk, { key: "h1", from: 1, to: 1 })).toMatchObject({
      side: "old",
      line: 2,
    });
  });
});

describe("the cursor", () => {
  it("goes on to what follows when its file is folded", () => {
    expect(nearest(["a", "b", "c"], ["a", "c"], "b")).toBe("c");
    expect(nearest(["a", "b"], ["a"], "b")).toBe("a");
    expect(nearest(["a"], ["a"], "gone")).toBe("a");
    expect(nearest([], [], undefined)).toBeUndefined();
  });
});
