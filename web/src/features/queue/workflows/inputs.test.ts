import { describe, expect, it } from "vitest";
import { inputsOf, valuesOf, whyNoValue } from "./inputs";

const plain = { isRequired: false, fallback: undefined, options: [], description: undefined };

describe("the inputs of a workflow", () => {
  it("are read from lines in brackets, with comments and quotes", () => {
    const source = `name: release # the name
inputs:
  # which branch
  branch: { type: string, default: main } # short
  count: {type: integer, required: true, description: 'how "many", it''s up to you'}
  kind: { type: string, options: [a, "b c"] }

steps:
  - id: build
`;
    expect(inputsOf(source)).toEqual([
      { ...plain, name: "branch", type: "string", fallback: "main" },
      {
        ...plain,
        name: "count",
        type: "integer",
        isRequired: true,
        description: 'how "many", it\'s up to you',
      },
      { ...plain, name: "kind", type: "string", options: ["a", "b c"] },
    ]);
  });

  it("are read from lines below each other, and from JSON", () => {
    const source = `inputs:
  loud:
    type: boolean
    default: false
  kind:
    options:
      - a
      - b
name: x
`;
    expect(inputsOf(source)).toEqual([
      { ...plain, name: "loud", type: "boolean", fallback: "false" },
      { ...plain, name: "kind", type: "any", options: ["a", "b"] },
    ]);
    const json = '{"name":"x","inputs":{"n":{"type":"number","default":1.5}}}';
    expect(inputsOf(json)).toEqual([{ ...plain, name: "n", type: "number", fallback: "1.5" }]);
  });

  it("may be none, and what is written in another way is not guessed", () => {
    expect(inputsOf("name: x\nsteps: []\n")).toEqual([]);
    expect(inputsOf("inputs: { a: { type: string } }\n")).toBeUndefined();
    expect(inputsOf("inputs:\n  a: &anchor { type: string }\n")).toBeUndefined();
    expect(inputsOf("inputs:\n  a: { type: string\n")).toBeUndefined();
    expect(inputsOf("inputs:\n  a:\n    description: |\n      long\n")).toBeUndefined();
  });

  it("are given by their types; what is empty is not given", () => {
    const inputs = ["string", "integer", "boolean", "array", "any"].map((type) => ({
      ...plain,
      name: type,
      type,
    }));
    const typed = { string: "7", integer: "7", boolean: "true", array: "[1]", any: "" };
    expect(valuesOf(inputs, typed)).toEqual({
      string: "7",
      integer: 7,
      boolean: true,
      array: [1],
    });
  });

  it("are refused before they are sent if they cannot be right", () => {
    const of = (type: string, more = {}) => ({ ...plain, name: "x", type, ...more });
    expect(whyNoValue(of("integer"), "1.5")).toBe("Write a whole number.");
    expect(whyNoValue(of("object"), "[1]")).toMatch(/^Write JSON/);
    expect(whyNoValue(of("string", { isRequired: true }), "")).toBe("It is needed.");
    expect(whyNoValue(of("string", { isRequired: true, fallback: "a" }), "")).toBeUndefined();
    expect(whyNoValue(of("integer"), "-3")).toBeUndefined();
  });
});
