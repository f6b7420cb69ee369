import { describe, expect, it } from "vitest";
import { inOrder, isOnTheWay } from "./order";

describe("changes of a bead", () => {
  it("are sent one after the other, also after a refusal", async () => {
    const log: string[] = [];
    const slow =
      (name: string, ms: number, isRefused = false) =>
      () =>
        new Promise<void>((resolve, reject) => {
          log.push(`${name} begins`);
          setTimeout(() => {
            log.push(`${name} ends`);
            if (isRefused) reject(new Error(name));
            else resolve();
          }, ms);
        });
    const sent = [
      inOrder("b", slow("first", 20, true)),
      inOrder("b", slow("second", 1)),
      inOrder("other", slow("beside", 1)),
    ];
    expect(isOnTheWay("b")).toBe(true);
    const outcome = await Promise.allSettled(sent);
    expect(outcome.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
    const own = log.filter((line) => !line.startsWith("beside"));
    expect(own).toEqual(["first begins", "first ends", "second begins", "second ends"]);
    expect(isOnTheWay("b")).toBe(false);
  });
});
