import { describe, expect, it, vi } from "vitest";
import { eachWhenIdle } from "./idle";

describe("what is done while there is time", () => {
  it("comes to every item, in order and in several goes, but not at once", async () => {
    const seen: number[] = [];
    const items = Array.from({ length: 50 }, (_, at) => at);
    eachWhenIdle(items, (item) => {
      seen.push(item);
      const until = performance.now() + 1;
      while (performance.now() < until);
    });
    expect(seen).toEqual([]);
    await vi.waitFor(() => expect(seen.length).toBeGreaterThan(0), { interval: 1 });
    expect(seen.length).toBeLessThan(items.length);
    await vi.waitFor(() => expect(seen).toEqual(items));
  });

  it("ends when it is no longer wanted", async () => {
    const seen: number[] = [];
    eachWhenIdle([1, 2, 3], (item) => seen.push(item))();
    await new Promise((go) => setTimeout(go, 30));
    expect(seen).toEqual([]);
  });
});
