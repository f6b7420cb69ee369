import { describe, expect, it } from "vitest";
import type { Budget } from "../../api/types";
import { settingOf, valuesOf, whyNot } from "./budgetForm";
import { marksOf, microsOf, type Setting, scopeParts, setCli, stopsAt, tellStop } from "./budgets";

const SETTING: Setting = {
  scope: "tenant",
  period: "monthly",
  capMicros: 200_000_000,
  warnPercent: 80,
  hardStop: true,
  gracePercent: 0,
  tell: [],
};

function budget(fields: Partial<Budget> = {}): Budget {
  return {
    ...SETTING,
    id: "b1",
    tell: [],
    spentMicros: 0,
    heldMicros: 0,
    startsAt: "2026-11-01T00:00:00Z",
    createdAt: "2026-11-01T00:00:00Z",
    ...fields,
  };
}

describe("budgets", () => {
  it("an amount is exact, and anything else is none", () => {
    expect(["5", "$0.25", "0.000001", " 12.5 "].map(microsOf)).toEqual([
      5_000_000, 250_000, 1, 12_500_000,
    ]);
    expect(["", "0", "-1", "1,5", "0.0000001", "many"].map(microsOf)).toEqual(
      Array(6).fill(undefined),
    );
  });

  it("a scope is a kind and a name", () => {
    expect(scopeParts("tenant")).toEqual({ kind: "tenant", name: "" });
    expect(scopeParts("agent:a:b")).toEqual({ kind: "agent", name: "a:b" });
  });
});

describe("where a budget stops", () => {
  it("is its limit with the grace, to the millionth of a dollar as the server has it", () => {
    expect(stopsAt(SETTING)).toBe(200_000_000);
    expect(stopsAt({ ...SETTING, gracePercent: 10 })).toBe(220_000_000);
    expect(stopsAt({ ...SETTING, capMicros: 19, gracePercent: 10 })).toBe(20);
    const large = { ...SETTING, capMicros: 999_999_999_999_999, gracePercent: 37 };
    expect(stopsAt(large)).toBe(Number((999_999_999_999_999n * 137n) / 100n));
    expect(stopsAt({ ...SETTING, hardStop: false, gracePercent: 10 })).toBeUndefined();
    expect(stopsAt({ capMicros: 7 })).toBe(7);
  });

  it("is told in words", () => {
    expect(tellStop({ ...SETTING, gracePercent: 10 })).toBe(
      "Requests are refused from $220.00 on.",
    );
    expect(tellStop({ ...SETTING, hardStop: false })).toBe("Nothing is refused; it only tells.");
    const name = (id: string) => id.toUpperCase();
    expect(marksOf(budget(), name)).toBe(
      "warns at 80%, refuses from $200.00 on, told: everybody who may know of it",
    );
    expect(marksOf(budget({ gracePercent: 10, tell: ["ada", "bob"] }), name)).toBe(
      "warns at 80%, refuses from $220.00 on (10% grace), told: ADA, BOB",
    );
    expect(marksOf(budget({ hardStop: false, tell: ["ada"] }), name)).toBe(
      "warns at 80%, only tells, told: ADA",
    );
  });
});

describe("the command line of a budget", () => {
  it("says the same, and not what is as usual", () => {
    expect(setCli(SETTING)).toBe("godel budget set tenant 200/month");
    const daily = { scope: "agent:b", period: "daily", capMicros: 500_000 } as const;
    expect(setCli({ ...SETTING, ...daily, warnPercent: 75 })).toBe(
      "godel budget set agent:b 0.5/day --warn 75",
    );
    const once = { scope: "bead:x", period: "total", capMicros: 3_000_000 } as const;
    expect(setCli({ ...SETTING, ...once })).toBe("godel budget set bead:x 3");
    expect(setCli({ ...SETTING, gracePercent: 10, tell: ["ada", "bob o'neil"] })).toBe(
      "godel budget set tenant 200/month --grace 10 --tell ada --tell 'bob o'\\''neil'",
    );
    expect(setCli({ ...SETTING, hardStop: false, gracePercent: 10 })).toBe(
      "godel budget set tenant 200/month --alert-only",
    );
  });

  it("names what goes back to what is usual", () => {
    const before = budget({ hardStop: false, gracePercent: 5, warnPercent: 50, tell: ["u1"] });
    expect(setCli(SETTING, before)).toBe(
      "godel budget set tenant 200/month --warn 80 --hard-stop --grace 0 --tell-all",
    );
  });
});

describe("the form of a budget", () => {
  const PEOPLE = [{ id: "u1" }, { id: "u2" }];

  it("sends everything that it began with", () => {
    const before = budget({
      hardStop: false,
      gracePercent: 5,
      warnPercent: 50,
      tell: ["u1", "u2"],
    });
    const { scope, period, capMicros, warnPercent, hardStop, gracePercent, tell } = before;
    const all = { scope, period, capMicros, warnPercent, hardStop, gracePercent, tell };
    expect(settingOf(valuesOf(before), PEOPLE)).toEqual(all);
    expect(settingOf({ ...valuesOf(undefined), amount: "200" }, PEOPLE)).toEqual(SETTING);
  });

  it("leaves out who is not here any more, if it knows who is", () => {
    const values = valuesOf(budget({ tell: ["gone", "u2"] }));
    expect(settingOf(values, PEOPLE).tell).toEqual(["u2"]);
    expect(settingOf(values, undefined).tell).toEqual(["gone", "u2"]);
    expect(settingOf({ ...values, told: "all" }, PEOPLE).tell).toEqual([]);
  });

  it("says what is missing", () => {
    const values = valuesOf(budget());
    const why = (fields: Partial<typeof values>) => whyNot({ ...values, ...fields }, PEOPLE);
    expect(why({})).toBeUndefined();
    expect(why({ amount: "many" })).toBe("Say how much may be spent.");
    expect(why({ kind: "agent" })).toBe("Say whose spending it limits.");
    for (const grace of ["", "101", "-1", "1.5"]) {
      expect(why({ grace }), grace).toBe("Write a grace of 0 to 100 percent.");
      expect(why({ grace, stop: "off" }), grace).toBeUndefined();
    }
    expect(why({ told: "some" })).toBe("Choose who is told, or let everybody know.");
    expect(why({ told: "some", tell: "u1" })).toBeUndefined();
    const many = Array.from({ length: 21 }, (_, at) => ({ id: `p${at}` }));
    const tell = many.map(({ id }) => id).join(" ");
    expect(whyNot({ ...values, told: "some", tell }, many)).toBe("Choose at most 20 people.");
  });
});
