import { beforeEach, describe, expect, it } from "vitest";
import { fakeComment, fakeFile, fakeHunk } from "../../../tests/fakeReview";
import type { ReviewDiff } from "../../api/types";
import { earlierOf, keepAsked, keepLook, readSeen, type Seen, wasThere, withLook } from "./rounds";

/** A change at a commit, with hunks of these keys. */
const change = (head: string, ...keys: string[]): ReviewDiff => ({
  base: "base",
  head,
  total: 1,
  cut: false,
  tally: { accepted: 0, rejected: 0, undecided: keys.length },
  files: [fakeFile({ hunks: keys.map((key) => fakeHunk(["+new"], { key })) })],
  comments: [],
});
const looks = (...heads: string[]): Seen => ({ looks: heads.map((head) => ({ head, keys: [] })) });
const heads = (seen: Seen | undefined) => seen?.looks.map(({ head }) => head);

describe("what is remembered of a change", () => {
  it("is each commit once, and the newest few, with that of the last round", () => {
    const seen = withLook(looks("c1", "c2", "c3"), change("c4", "a"));
    expect(heads(seen)).toEqual(["c1", "c2", "c3", "c4"]);
    expect(withLook(seen, change("c4", "b"))).toBe(seen);
    expect(heads(withLook(seen, change("c5")))).toEqual(["c2", "c3", "c4", "c5"]);
    const asked = { ...looks("c1", "c2", "c3", "c4"), asked: { round: 1, head: "c1" } };
    expect(heads(withLook(asked, change("c5")))).toEqual(["c1", "c3", "c4", "c5"]);
  });

  it("is nothing of a change that was read in part, or is too large", () => {
    expect(withLook(undefined, { ...change("c1", "a"), next: 500 })).toBeUndefined();
    const many = Array.from({ length: 1_001 }, (_, at) => `key ${at}`);
    expect(withLook(undefined, change("c1", ...many))).toBeUndefined();
  });
});

describe("A14 what is new", () => {
  const at = (head: string, ...keys: string[]) => ({ head, keys });
  const seen: Seen = { looks: [at("c1", "a", "b"), at("c2", "a", "c")] };
  const news = (known: Seen, review: Parameters<typeof earlierOf>[1], head = "c3") => {
    const earlier = earlierOf(known, review, head);
    return earlier && [earlier.since, ...["a", "b", "c"].filter((key) => !wasThere(earlier, key))];
  };

  it("is so since the round, however often was pushed and looked at after it", () => {
    const own = { ...seen, asked: { round: 2, head: "c1" } };
    expect(news(own, { rounds: 2, comments: [] })).toEqual(["round 2", "c"]);
  });

  it("is so since what the agent was told, if another browser began the round", () => {
    const comments = [fakeComment({ sent: 2, commit: "c1" }), fakeComment({ commit: "c2" })];
    const stale = { ...seen, asked: { round: 1, head: "c2" } };
    expect(news(stale, { rounds: 2, comments })).toEqual(["round 2", "c"]);
  });

  it("is so since the reader looked last, if there was no round, or one that was not seen", () => {
    expect(news(seen, { rounds: 0, comments: [] })).toEqual(["you looked last", "b"]);
    const foreign = [fakeComment({ sent: 1, commit: "elsewhere" })];
    expect(news(seen, { rounds: 1, comments: foreign })).toEqual(["you looked last", "b"]);
    expect(news(seen, { rounds: 0, comments: [] }, "c2")).toEqual(["you looked last", "c"]);
  });

  it("is not known to who never saw another commit", () => {
    expect(news({ looks: [at("c3", "a")] }, { rounds: 1, comments: [] })).toBeUndefined();
    expect(earlierOf(undefined, { rounds: 1, comments: [] }, "c3")).toBeUndefined();
  });
});

describe("a browser", () => {
  beforeEach(() => localStorage.clear());

  it("keeps it for the reviews that were looked at last", () => {
    keepLook("app-0", change("c1", "a"));
    keepAsked("app-0", { round: 1, head: "c1" });
    expect(readSeen("app-0")).toEqual({
      looks: [{ head: "c1", keys: ["a"] }],
      asked: { round: 1, head: "c1" },
    });
    for (let at = 1; at <= 30; at += 1) keepLook(`app-${at}`, change("c1", "a"));
    expect(readSeen("app-0")).toBeUndefined();
    expect(readSeen("app-30")).toBeDefined();
  });

  it("reads nothing out of what makes no sense", () => {
    localStorage.setItem("godel.review.rounds", "null");
    expect(readSeen("app-0")).toBeUndefined();
  });
});
