import { describe, expect, it } from "vitest";
import { poolChange, poolCli, poolFaults, poolValues } from "./poolForm";

const CI = {
  name: "ci",
  paused: false,
  ageingSeconds: 600,
  placement: "least-loaded",
  deadAlert: 10,
  alerted: false,
};

describe("how a pool works", () => {
  it("sends and says only what was changed", () => {
    const values = { ...poolValues(CI), placement: "affinity" };
    expect(poolChange(CI, values)).toEqual({ placement: "affinity" });
    expect(poolCli(CI, values)).toBe("godel queue set ci --placement affinity");
  });

  it("takes an empty field for never", () => {
    const values = { ...poolValues(CI), ageing: "", alert: "" };
    expect(poolChange(CI, values)).toEqual({ ageingSeconds: 0, deadAlert: 0 });
    expect(poolCli(CI, values)).toBe("godel queue set ci --no-ageing --no-alert");
  });

  it("refuses what is no number", () => {
    expect(Object.keys(poolFaults({ ...poolValues(CI), alert: "-1" }))).toEqual(["alert"]);
  });
});
