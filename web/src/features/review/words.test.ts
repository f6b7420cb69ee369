import { describe, expect, it } from "vitest";
import { charMarks, LINE_MAX, piecesOf, withoutSpace } from "./words";

const marked = (text: string, marks: { from: number; to: number }[]) =>
  piecesOf(text, marks)
    .filter((piece) => piece.isMarked)
    .map((piece) => piece.text);

describe("the parts of a line", () => {
  it("are what differs and what does not", () => {
    expect(piecesOf("let a = 1", [{ from: 4, to: 5 }]).map((piece) => piece.text)).toEqual([
      "let ",
      "a",
      " = 1",
    ]);
  });

  it("are counted in bytes by the server and in characters here", () => {
    expect(marked("grüße 👋 you", [{ from: 8, to: 12 }])).toEqual(["👋"]);
    expect(charMarks("äö", [{ from: 2, to: 4 }])).toEqual([{ from: 1, to: 2 }]);
  });

  it("have colours as well, whatever else they are", () => {
    const pieces = piecesOf("let abc", [{ from: 2, to: 5 }], [{ from: 0, to: 3, kind: "keyword" }]);
    expect(pieces.map(({ text, isMarked, token }) => [text, isMarked, token])).toEqual([
      ["le", false, "keyword"],
      ["t", true, "keyword"],
      [" a", true, undefined],
      ["bc", false, undefined],
    ]);
  });

  it("show signs that nobody would see", () => {
    const pieces = piecesOf("a\u202eb\tc", []);
    expect(pieces.filter((piece) => piece.isHidden).map((piece) => piece.text)).toEqual(["U+202E"]);
    expect(pieces.map((piece) => piece.text).join("")).toBe("aU+202Eb\tc");
  });

  it("end before a line stops the browser", () => {
    const length = piecesOf("x".repeat(100_000), []).reduce((sum, one) => sum + one.text.length, 0);
    expect(length).toBe(LINE_MAX);
  });
});

describe("white space", () => {
  it("is left out wherever it stands", () => {
    expect(withoutSpace("  a( b )\t")).toBe("a(b)");
  });
});
