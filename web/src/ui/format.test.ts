import { describe, expect, it } from "vitest";
import { bytes, count, latency, plural, waiting, words } from "./format";
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
});
