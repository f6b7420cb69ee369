import { describe, expect, it } from "vitest";
import { listIn, objectIn, wordsIn } from "./typed";

describe("what people type", () => {
  it("words are split at spaces and commas", () => {
    expect(listIn(" a, b  a\nc ,")).toEqual(["a", "b", "a", "c"]);
    expect(wordsIn(" a, b  a\nc ,")).toEqual(["a", "b", "c"]);
    expect(wordsIn(" ")).toEqual([]);
  });

  it("only an object of JSON is one", () => {
    expect(objectIn('{"a": [1]}')).toEqual({ a: [1] });
    for (const text of ["", "{", "[]", "null", "1", '"a"']) expect(objectIn(text)).toBeUndefined();
  });
});
