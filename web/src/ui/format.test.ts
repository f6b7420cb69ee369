import { describe, expect, it } from "vitest";
import {
  bytes,
  count,
  duration,
  latency,
  money,
  plural,
  relativeTime,
  shellWord,
  shortId,
  waiting,
  words,
} from "./format";
import { asSentence } from "./Sentence";

describe("formats", () => {
  it("writes bytes as disks are sold", () => {
    expect([0, 999, 1_500, 212_345_678_901, 4e18].map(bytes)).toEqual([
      "0 B",
      "999 B",
      "1.5 KB",
      "212 GB",
      "4000 PB",
    ]);
  });

  it("writes a time to wait that is never too short", () => {
    expect([0, 1, 12, 120, 121, 900].map(waiting)).toEqual([
      "1 second",
      "1 second",
      "12 seconds",
      "120 seconds",
      "3 minutes",
      "15 minutes",
    ]);
  });

  it("writes waiting times with useful digits", () => {
    expect([0.4217, 3.14, 12.6, 1_340].map(latency)).toEqual([
      "0.42 ms",
      "3.1 ms",
      "13 ms",
      "1.3 s",
    ]);
  });

  it("counts things", () => {
    expect(count(12_408)).toBe("12,408");
    expect([0, 1, 2].map((value) => plural(value, "event"))).toEqual([
      "0 events",
      "1 event",
      "2 events",
    ]);
  });

  it("names a field for people", () => {
    expect(["projectId", "object_store", "disk", ""].map(words)).toEqual([
      "Project id",
      "Object store",
      "Disk",
      "",
    ]);
  });

  it("makes a sentence of a server message", () => {
    expect(asSentence("this link was used")).toBe("This link was used.");
    expect(asSentence("Why?")).toBe("Why?");
    expect(asSentence("`godel up` is not running")).toBe("`godel up` is not running.");
    expect(asSentence(" ")).toBe("");
  });

  it("writes money to four places below a dollar", () => {
    expect([0, 42, 4_200, 999_999, 1_000_000, 12_400_000, -500].map(money)).toEqual([
      "$0.00",
      "$0.0000",
      "$0.0042",
      "$1.0000",
      "$1.00",
      "$12.40",
      "-$0.0005",
    ]);
  });

  it("writes how long ago something was, in one unit", () => {
    const now = Date.parse("2026-11-15T12:00:00Z");
    const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString();
    expect([0, 42, 300, 7_200, 86_400 * 12, -300].map((s) => relativeTime(ago(s), now))).toEqual([
      "now",
      "42s ago",
      "5m ago",
      "2h ago",
      "12d ago",
      "in 5m",
    ]);
    expect(relativeTime("never", now)).toBe("no time");
    expect(duration(59)).toBe("59s");
  });

  it("shortens ids to what tells them apart", () => {
    expect(shortId("0198f2aa-1111-7222-8333-0123456789ab")).toBe("456789ab");
    expect(shortId("godel-4k2hm")).toBe("godel-4k2hm");
  });
});

describe("a word for a shell", () => {
  it("is quoted if it needs to be", () => {
    expect(shellWord("attempt-2")).toBe("attempt-2");
    expect(shellWord("")).toBe("''");
    expect(shellWord("it's $(here)")).toBe("'it'\\''s $(here)'");
  });
});
