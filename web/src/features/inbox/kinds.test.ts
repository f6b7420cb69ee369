import { describe, expect, it } from "vitest";
import { kindOf, noOf, yesOf } from "./kinds";

describe("answers by one key", () => {
  it("are taken from choices that say yes or no", () => {
    expect(yesOf({ choices: ["Yes, delete it", "No"] })).toBe("Yes, delete it");
    expect(noOf({ choices: ["Allow", "Deny"] })).toBe("Deny");
    expect(yesOf({ choices: ["Allow", "Deny"] })).toBe("Allow");
  });

  it("are never guessed", () => {
    expect(yesOf({ choices: ["red", "yesterday's blue"] })).toBeUndefined();
    expect(noOf({ choices: ["north", "south"] })).toBeUndefined();
    expect(yesOf({ choices: [] })).toBeUndefined();
  });

  it("are offered for kinds that this page does not know yet", () => {
    expect(kindOf({ kind: "something-new" }).title).toBe("Question");
  });
});
