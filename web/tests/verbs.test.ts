import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SECTIONS } from "../src/features/settings/sections";
import { PAGES } from "../src/pages";
import { ELSEWHERE, NOT_YET, NOT_YET_MOST, PLACES, SHOWN_AS } from "./verbs";

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

const SRC = join(__dirname, "../src");
/** The program itself, by the path of each file: what only a test has nobody can press. */
const files = new Map(
  readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !/\.(test|gen)\.|fake/.test(name))
    .map((name) => [name, readFileSync(join(SRC, name), "utf8")]),
);
const program = [...files.values()].join("\n");

/** Whether the page writes the command of a verb, for whoever wants to copy it. */
function isWritten(verb: string): boolean {
  return new RegExp(`godel ${verb}(?![a-z-])`).test(program);
}

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

  it("each verb that has a place is in the program: its command, its route, or its words", () => {
    const missing = placed.filter((verb) => {
      if (isWritten(verb)) return false;
      const [file, text] = SHOWN_AS[verb] ?? [];
      return file === undefined || text === undefined || !files.get(file)?.includes(text);
    });
    expect(missing, "build it, or say in SHOWN_AS of tests/verbs.ts what it is").toEqual([]);
  });

  it("nothing is said of a verb that has no place, or whose command is written", () => {
    const said = Object.keys(SHOWN_AS);
    expect(said.filter((verb) => !placed.includes(verb))).toEqual([]);
    expect(said.filter(isWritten)).toEqual([]);
  });

  it("what the dashboard lacks does not get more", () => {
    expect(NOT_YET.length).toBeLessThanOrEqual(NOT_YET_MOST);
  });
});
