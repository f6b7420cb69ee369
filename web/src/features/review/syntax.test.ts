import { describe, expect, it } from "vitest";
import { grammarOf, tokensOf } from "./syntax";

function colours(path: string, text: string): string[] {
  const grammar = grammarOf(path);
  if (!grammar) return [];
  return tokensOf(text, grammar).map(({ from, to, kind }) => `${kind} ${text.slice(from, to)}`);
}

describe("colours", () => {
  it("know words, strings, numbers and comments", () => {
    expect(colours("a.ts", 'const a = f("x\\"y", 12); // so')).toEqual([
      "keyword const",
      "name f",
      'string "x\\"y"',
      "digits 12",
      "comment // so",
    ]);
    expect(colours("x/main.rs", "pub fn a<'b>() {}")).toEqual(["keyword pub", "keyword fn"]);
    expect(colours("a.py", "def f(): # why")).toEqual(["keyword def", "name f", "comment # why"]);
    expect(colours("Makefile", "# all")).toEqual(["comment # all"]);
  });

  it("leave prose and long lines alone", () => {
    expect(colours("README.md", "let it be")).toEqual([]);
    expect(colours("a.js", `let ${"x".repeat(1_000)}`)).toEqual([]);
  });

  it("are there for more than thirty languages by their endings", () => {
    const endings =
      "js jsx ts tsx vue svelte java kt scala swift dart groovy cs rs go c cpp m proto zig php css scss less py sh fish rb ex toml yaml tf nix r pl json sql lua hs elm html xml";
    expect(endings.split(" ").filter((one) => !grammarOf(`a.${one}`))).toEqual([]);
  });
});
