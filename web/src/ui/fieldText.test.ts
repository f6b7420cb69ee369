import { expect, it } from "vitest";
import { fieldText } from "./fieldText";

it("a field is told before and after", () => {
  expect(fieldText({ name: "title", before: "Old", after: "New" })).toBe("title: Old → New");
  expect(fieldText({ name: "title", before: null, after: "New" })).toBe("title: New");
  expect(fieldText({ name: "title", before: "Old", after: null })).toBe("title: Old → none");
});
