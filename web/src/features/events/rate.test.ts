import { describe, expect, it } from "vitest";
import { makeEvent } from "../../../tests/fakeWire";
import { RATE_WINDOW_SECS, RateMeter } from "./rate";

const NOW = Date.parse("2026-11-15T10:00:05.500Z");
const at = (timestamp: string) => ({ ...makeEvent(1), timestamp });

describe("the rate meter", () => {
  it("counts by the second in which an event happened", () => {
    const meter = new RateMeter();
    meter.add([at("2026-11-15T10:00:04.100Z"), at("2026-11-15T10:00:04.900Z")], NOW);
    meter.add([at("2026-11-15T10:00:02.000Z"), at("2026-11-14T10:00:00Z")], NOW);
    const series = meter.series(NOW);
    expect(series).toHaveLength(RATE_WINDOW_SECS);
    expect(series.slice(-4)).toEqual([0, 1, 0, 2]);
    expect(series.reduce((sum, value) => sum + value)).toBe(3);
  });

  it("counts an event from the future, or without a time, as now", () => {
    const meter = new RateMeter();
    meter.add([at("2026-11-15T11:00:00Z"), at("")], NOW);
    expect(meter.series(NOW + 1_000).at(-1)).toBe(2);
  });

  it("forgets what is older than a minute", () => {
    const meter = new RateMeter();
    meter.add([at("2026-11-15T10:00:05Z")], NOW);
    expect(Math.max(...meter.series(NOW + 61_000))).toBe(0);
  });
});
