import { describe, expect, it } from "vitest";
import { makeEvent } from "../../../tests/fakeWire";
import { wordsFor } from "./Announcer";

const asks = (sequence: number, text: string, kind = "question") => ({
  ...makeEvent(sequence, "agent:needs:person", { notice: `n${sequence}`, kind, text }),
  metadata: { actor: "agent:worker-1" },
});

describe("what is announced", () => {
  it("names who needs a person, and for what", () => {
    expect(wordsFor([asks(1, "Which colour?")])).toBe(
      "worker-1 needs you. Question: Which colour?",
    );
    expect(wordsFor([asks(1, "It cannot go on.", "stuck")])).toMatch(/ Failure: It cannot go on/);
  });

  it("is one sentence for all that came at once", () => {
    expect(wordsFor([asks(1, "First?"), asks(2, "Second?")])).toBe(
      "worker-1 needs you. Question: Second? 1 more came with it.",
    );
  });

  it("is nothing for other events", () => {
    expect(wordsFor([makeEvent(1), makeEvent(2, "agent:answered")])).toBeUndefined();
  });
});
