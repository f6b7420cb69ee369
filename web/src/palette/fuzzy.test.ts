import { describe, expect, it } from "vitest";
import { score } from "./fuzzy";

const best = (typed: string, texts: string[]) =>
  texts
    .map((text) => ({ text, points: score(typed, text) }))
    .filter((one) => one.points !== undefined)
    .sort((a, b) => (b.points ?? 0) - (a.points ?? 0))
    .map((one) => one.text);

describe("the search of the palette", () => {
  it("finds letters in order and nothing else", () => {
    expect(best("pw", ["Pause worker-1", "wp"])).toEqual(["Pause worker-1"]);
  });

  it("prefers whole words, then starts of words, then letters in between", () => {
    expect(best("agent", ["Management", "Agents", "a green tent"])[0]).toBe("Agents");
    expect(best("worker-9", ["worker-95 x", "worker-9 with a task that is long"])[0]).toMatch(
      "9 w",
    );
    expect(best("mq", ["Merge queue", "From quay"])[0]).toBe("Merge queue");
  });
});
