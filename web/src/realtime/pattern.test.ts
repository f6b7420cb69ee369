import { describe, expect, it } from "vitest";
import { matchesPattern, patternFromInput } from "./pattern";

describe("matchesPattern", () => {
  it.each([
    ["*", "agent:start", true],
    ["agent:*", "agent:start", true],
    ["agent:*", "agent:tool:call", true],
    ["workflow:*:start", "workflow:step:start", true],
    ["*:start", "agent:start", true],
    ["agent:start", "agent:start", true],
    ["agent:*", "agents:start", false],
    ["agent:*", "agent", false],
    ["agent", "agent:start", false],
    ["workflow:step:*", "workflow:start", false],
    ["workflow:*:start", "workflow:start", false],
    ["agent:start", "agent:start:again", false],
  ])("%s on %s is %s", (pattern, type, expected) => {
    expect(matchesPattern(pattern, type)).toBe(expected);
  });
});

describe("patternFromInput", () => {
  it.each([
    ["", "*"],
    ["  ", "*"],
    ["agent", "agent:*"],
    ["Agent:", "agent:*"],
    ["agent:start", "agent:start"],
    ["*:start", "*:start"],
    ["*", "*"],
    ["agent start", undefined],
    ["agent:**", undefined],
    ["1:2", undefined],
    ["a:b:c:d:e:f", undefined],
    ["x".repeat(200), undefined],
  ])("reads %j as %s", (input, expected) => {
    expect(patternFromInput(input)).toBe(expected);
  });
});
