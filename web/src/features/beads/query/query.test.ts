import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Bead, Convoy } from "../../../api/types";
import { bead } from "../fakeBead";
import { BeadGraph } from "../graph";
import { complete } from "./complete";
import { matcher } from "./evaluate";
import { FIELDS, parseQuery, wordsOf } from "./parse";

const NOW = Date.parse("2026-11-16T12:00:00Z");
const beads = [
  bead("a", { title: "Fix the login", labels: ["auth"], priority: "high" }),
  bead("b", { agent: "worker-1", status: "in-progress", updatedAt: "2026-11-01T00:00:00Z" }),
  bead("c", { links: [{ type: "blocks", target: "a" }], agent: "user:ann" }),
  bead("d", { status: "done", type: "bug" }),
];
const convoys = [{ id: "convoy-1", name: "Release 1.0", beads: ["a", "c"] } as unknown as Convoy];
const around = { graph: new BeadGraph(beads), convoys, me: "user:ann", now: NOW };
const find = (query: string) =>
  beads.filter(matcher(parseQuery(query).terms, around)).map(({ id }) => id);

/** The examples that the server is held to as well. */
const EXAMPLES = JSON.parse(readFileSync("../crates/beads/tests/queries.json", "utf8")) as {
  me: string;
  beads: (Partial<Bead> & {
    id: string;
    blockedBy?: string[];
    isDone?: boolean;
    parent?: string;
  })[];
  convoys: Convoy[];
  finds: { query: string; ids: string[] }[];
  refuses: { query: string; says: string; meant?: string }[];
};

describe("the query", () => {
  it("B2 finds what the server finds, and refuses what it refuses", () => {
    const all = EXAMPLES.beads.map(({ blockedBy = [], isDone, parent, comments, ...fields }) =>
      bead(fields.id, {
        ...fields,
        status: isDone ? "done" : "open",
        ...(parent && { parentBead: parent }),
        links: blockedBy.map((target) => ({ type: "blocks", target })),
        comments: ((comments ?? []) as unknown as string[]).map((text) => ({
          id: text,
          by: "ann",
          at: "2026-11-16T10:00:00Z",
          text,
        })),
      }),
    );
    const { convoys, me } = EXAMPLES;
    const here = { graph: new BeadGraph(all), convoys, me, now: NOW };
    for (const { query, ids } of EXAMPLES.finds) {
      const { terms, errors } = parseQuery(query);
      expect(errors, query).toEqual([]);
      const found = all.filter(matcher(terms, here)).map(({ id }) => id);
      expect(found, query).toEqual(ids);
    }
    for (const { query, says, meant } of EXAMPLES.refuses) {
      const [error] = parseQuery(query).errors;
      const told = error?.message.toLowerCase() ?? "nothing";
      expect(told, query).toContain(says.toLowerCase());
      expect(told.includes("did you mean"), query).toBe(meant !== undefined);
      if (meant) expect(told).toContain(`did you mean ${meant}?`);
    }
  });

  it("B2 finds by field, by age and by text", () => {
    expect(find("")).toEqual(["a", "b", "c", "d"]);
    expect(find("status:open agent:none blocked:no updated:<2d")).toEqual(["a"]);
    expect(find("status:open,done")).toEqual(["a", "c", "d"]);
    expect(find("-status:done")).toEqual(["a", "b", "c"]);
    expect(find("blocked:yes")).toEqual(["c"]);
    expect(find("agent:me")).toEqual(["c"]);
    expect(find("agent:ann,worker-1")).toEqual(["b", "c"]);
    expect(find("updated:>1w")).toEqual(["b"]);
    expect(find("label:auth LOGIN")).toEqual(["a"]);
    expect(find('convoy:"release 1.0"')).toEqual(["a", "c"]);
    expect(find("convoy:none type:bug")).toEqual(["d"]);
    expect(find('"fix the"')).toEqual(["a"]);
  });

  it("B2 says what is wrong under the word, and the rest still counts", () => {
    const { terms, errors } = parseQuery("status:opne priority:high prio:x updated:2d");
    expect(terms).toHaveLength(1);
    expect(errors).toEqual([
      {
        start: 0,
        end: 11,
        message: "status is open, in-progress, review or done. Did you mean open?",
      },
      {
        start: 26,
        end: 32,
        message: "There is no field prio. Did you mean priority?",
        isFinal: true,
      },
      { start: 33, end: 43, message: "updated takes an age such as <2d, >3h or <1w." },
    ]);
    expect(parseQuery("status:").errors[0]?.message).toBe("status needs a value.");
    expect(parseQuery("see https://x.org 12:30").errors).toEqual([]);
  });

  it("B2 completes fields and what they take", () => {
    const texts = (query: string) =>
      complete(query, query.length, { beads, convoys }).options.map(({ text }) => text);
    expect(texts("st")).toEqual(["status:"]);
    expect(texts("status:o")).toEqual(["status:open"]);
    expect(texts("login status:open,r")).toEqual(["status:open,review"]);
    expect(texts("-agent:")).toEqual(["-agent:none", "-agent:me", "-agent:ann", "-agent:worker-1"]);
    expect(texts("convoy:r")).toEqual(['convoy:"release 1.0"']);
    expect(texts("")).toHaveLength(Object.keys(FIELDS).length);
  });

  it("the server is asked for the words that could be read", () => {
    const { sound } = parseQuery('status:opne  agent:none -type:bug !! "log in"');
    expect(sound).toBe('agent:none -type:bug "log in"');
  });

  it("any query is read: each word is a term or an error, and places are right", () => {
    const pieces = [
      "status:",
      "open",
      ",",
      '"',
      " ",
      "-",
      ":",
      "<2d",
      "updated:",
      "x y",
      "agent:none",
      "ü",
    ];
    let state = 11;
    for (let round = 0; round < 500; round += 1) {
      let query = "";
      for (let at = 0; at < 8; at += 1) {
        state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
        query += pieces[state % pieces.length] ?? "";
      }
      const { terms, errors } = parseQuery(query);
      const words = wordsOf(query);
      expect(terms.length + errors.length, query).toBeLessThanOrEqual(words.length);
      for (const { start, end } of errors) {
        expect(
          words.some((word) => word.start === start && word.end === end),
          query,
        ).toBe(true);
      }
      // A query that is narrower by one more word never finds more.
      const wide = beads.filter(matcher(terms, around));
      const narrow = beads.filter(matcher(parseQuery(`${query} status:open`).terms, around));
      const isWhole = query.split('"').length % 2 === 1;
      if (isWhole) expect(narrow.length).toBeLessThanOrEqual(wide.length);
      const { from, to } = complete(query, query.length, { beads, convoys });
      expect(from <= to && to <= query.length, query).toBe(true);
    }
  });

  it("B1 finds among 10,000 beads", () => {
    const many = Array.from({ length: 10_000 }, (_, at) =>
      bead(`godel-${at}`, { priority: at % 4 === 0 ? "high" : "low", title: `Bead ${at}` }),
    );
    const graph = new BeadGraph(many);
    const { terms } = parseQuery("status:open priority:high blocked:no bead");
    expect(many.filter(matcher(terms, { ...around, graph })).length).toBe(2_500);
  });
});
