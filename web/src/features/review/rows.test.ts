import { describe, expect, it } from "vitest";
import { fakeComment, fakeFile, fakeHunk } from "../../../tests/fakeReview";
import { editableText, isPicture, type Look, lineRows, noteOf, partKeys, rowsOf } from "./rows";

const LOOK: Look = {
  isSplit: false,
  hidesSpace: false,
  isFolded: () => false,
  comments: [],
  edits: new Map(),
  editing: undefined,
  composing: undefined,
};

const kinds = (look: Partial<Look>, file = fakeFile()) =>
  rowsOf([file], { ...LOOK, ...look }).rows.map((row) => row.kind);

describe("the rows of a diff", () => {
  it("are a head, the bar of each hunk and its lines", () => {
    expect(kinds({})).toEqual(["head", "hunk", "line", "line", "line", "line", "gap"]);
  });

  it("are fewer side by side, with what came beside what is gone", () => {
    const rows = lineRows(fakeHunk([" a", "-b", "+c", "+d"]), { isSplit: true, hidesSpace: false });
    expect(rows.map(({ left, right }) => [left?.text, right?.text])).toEqual([
      ["a", "a"],
      ["b", "c"],
      [undefined, "d"],
    ]);
  });

  it("A14 leave out the lines of what was there before the last round, but not its bar", () => {
    const fresh = fakeHunk([" x", "+new", " y"], { key: "h2", number: 2, newStart: 40 });
    const file = fakeFile({ hunks: [fakeHunk([" same", "-gone", "+new"]), fresh] });
    const { rows } = rowsOf([file], { ...LOOK, isOld: (key) => key === "h1" });
    const shown = rows.filter(({ kind }) => kind === "hunk" || kind === "line");
    expect(shown.map((row) => (row.kind === "hunk" ? [row.hunk.key, row.isOld] : "line"))).toEqual([
      ["h1", true],
      ["h2", false],
      ...["line", "line", "line"],
    ]);
  });

  it("have only a head when the file is folded", () => {
    expect(kinds({ isFolded: () => true })).toEqual(["head", "gap"]);
  });

  it("show what was said below its line, and what lost its line above all", () => {
    const at = fakeComment();
    const answer = fakeComment({ id: "c2", replyTo: "c1", text: "Because" });
    const lost = fakeComment({ id: "c3", line: null });
    expect(kinds({ comments: [at, answer, lost] })).toEqual([
      ...["head", "thread", "hunk", "line", "line", "line", "thread", "line", "gap"],
    ]);
    const { rows } = rowsOf([fakeFile()], { ...LOOK, comments: [at, answer] });
    const thread = rows.find((row) => row.kind === "thread");
    expect(thread?.kind === "thread" && thread.answers.map(({ text }) => text)).toEqual([
      "Because",
    ]);
  });

  it("show nothing of white space to who does not want it", () => {
    const odd = fakeHunk([" x", "-b();", "+  b();"]);
    const rows = lineRows(odd, { isSplit: false, hidesSpace: true });
    expect(rows.map(({ isSpace, right }) => [isSpace, right?.text])).toEqual([
      [false, "x"],
      [true, "  b();"],
    ]);
    expect(lineRows(odd, { isSplit: false, hidesSpace: false })).toHaveLength(3);
  });

  it("R2 show nothing of a block that was only wrapped and moved to the right", () => {
    const wrapped = fakeHunk([
      ...[" x", "-open();", "-old();", "-close();"],
      ...["+if (a) {", "+  open();", "+  young();", "+  close();", "+}"],
    ]);
    const shown = (isSplit: boolean) =>
      lineRows(wrapped, { isSplit, hidesSpace: true }).map(({ left, right, isSpace }) => [
        isSpace ? "same" : "",
        left?.text,
        right?.text,
      ]);
    expect(shown(false)).toEqual([
      ["", "x", "x"],
      ["", undefined, "if (a) {"],
      ["same", "open();", "  open();"],
      ["", "old();", undefined],
      ["", undefined, "  young();"],
      ["same", "close();", "  close();"],
      ["", undefined, "}"],
    ]);
    expect(shown(true).slice(3, 4)).toEqual([["", "old();", "  young();"]]);
  });

  it("R2 compare a very long run of lines only place by place", () => {
    const many = (sign: string) => Array.from({ length: 500 }, (_, at) => `${sign}line ${at};`);
    const moved = fakeHunk([...many("-"), ...many("+  ")]);
    const spaces = (lines: string[]) =>
      lineRows(fakeHunk(lines), { isSplit: false, hidesSpace: true }).filter((one) => one.isSpace);
    expect(lineRows(moved, { isSplit: false, hidesSpace: true })).toHaveLength(500);
    expect(spaces([...many("-"), "+if (a) {", ...many("+  ")])).toHaveLength(0);
  });

  it("put the editor below the bar, and where a comment is written below its line", () => {
    expect(kinds({ editing: "h1" })[2]).toBe("editor");
    expect(kinds({ edits: new Map([["h1", "x"]]) })[2]).toBe("edited");
    const composing = { path: "src/main.rs", side: "old", line: 2 } as const;
    expect(kinds({ composing })).toEqual([
      ...["head", "hunk", "line", "line", "compose", "line", "line", "gap"],
    ]);
  });

  it("have keys of their own, so that heights are not mixed up", () => {
    const { rows } = rowsOf([fakeFile(), fakeFile({ path: "b" })], LOOK);
    expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
  });
});

describe("a file", () => {
  it("says why it has no lines", () => {
    expect(noteOf(fakeFile({ binary: true, hunks: [] }))).toMatch(/binary/);
    expect(noteOf(fakeFile({ status: "renamed", hunks: [] }))).toMatch(/name/);
    expect(noteOf(fakeFile())).toBeUndefined();
  });

  it("can be decided as a whole and hunk by hunk", () => {
    expect(partKeys([fakeFile({ key: "f1" })])).toEqual(["f1", "h1"]);
  });
});

describe("what an editor begins with", () => {
  it("is the hunk from its first change to its last", () => {
    expect(editableText(fakeHunk([" a", "-b", "+c", " d", "+e", " f"]))).toBe("c\nd\ne\n");
    expect(editableText(fakeHunk([" a", "-b", " c"]))).toBe("");
  });

  it("ends as the file ends", () => {
    const hunk = fakeHunk(["-a", "+b"]);
    const lines = hunk.lines.map((line) => ({ ...line, noNewline: true }));
    expect(editableText({ ...hunk, lines })).toBe("b");
  });
});

describe("pictures", () => {
  it("are files without lines whose name says so, and no SVG", () => {
    expect(isPicture(fakeFile({ path: "a/Logo.PNG", binary: true }))).toBe(true);
    expect(isPicture(fakeFile({ path: "logo.svg", binary: true }))).toBe(false);
    expect(isPicture(fakeFile({ path: "logo.png", binary: false }))).toBe(false);
  });

  it("take the place of the words that nothing can be shown", () => {
    const shown = kinds({}, fakeFile({ path: "logo.png", binary: true, hunks: [] }));
    expect(shown).toContain("picture");
    expect(shown).not.toContain("note");
  });
});
