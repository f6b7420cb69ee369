import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SECTIONS } from "../src/features/settings/sections";
import { PAGES } from "../src/pages";
import { ELSEWHERE, NOT_YET, NOT_YET_MOST, PLACES } from "./verbs";

/** Every verb that does something by itself, as the reference of the command line has it. */
function verbsOf(reference: string): string[] {
  return reference.split(/^#{2,} /m).flatMap((part) => {
    const name = /^godel (.+)$/m.exec(part.split("\n", 1)[0] ?? "")?.[1];
    if (name === undefined) return [];
    // What only bundles other verbs does nothing; what may also stand alone does.
    const isBundle = /^Usage: .*<COMMAND>$/m.test(part);
    return isBundle ? [] : [name];
  });
}

const reference = readFileSync(join(__dirname, "../../docs/reference/cli.md"), "utf8");
const verbs = verbsOf(reference);
const placed = Object.values(PLACES).flat();
const elsewhere = Object.values(ELSEWHERE).flat();
const decided = [...placed, ...elsewhere, ...NOT_YET];

describe("G12 each verb of the command line is reachable", () => {
  it("the reference is understood", () => {
    expect(verbs.length).toBeGreaterThan(200);
    expect(verbs).toContain("bead create");
    expect(verbs).not.toContain("bead");
    expect(verbs).toContain("inbox");
  });

  it("every verb has a place, or a reason to have none", () => {
    const undecided = verbs.filter((verb) => !decided.includes(verb));
    expect(undecided, "decide in tests/verbs.ts where these are in the dashboard").toEqual([]);
  });

  it("none is decided twice, and none that is gone is listed", () => {
    expect(decided.filter((verb, at) => decided.indexOf(verb) !== at)).toEqual([]);
    expect(decided.filter((verb) => !verbs.includes(verb))).toEqual([]);
  });

  it("each place is one of the dashboard", () => {
    const sections = SECTIONS.map(({ id }) => `/settings/${id}`);
    const known = [...PAGES.map(({ path }) => path), ...sections];
    expect(Object.keys(PLACES).filter((place) => !known.includes(place))).toEqual([]);
  });

  it("what the dashboard lacks does not get more", () => {
    expect(NOT_YET.length).toBeLessThanOrEqual(NOT_YET_MOST);
  });
});
