import { describe, expect, it } from "vitest";
import { countChecks, parseInline, parseMarkdown, safeHref, tick } from "./markdown";

describe("the texts of beads", () => {
  it("B4 knows heads, lists, boxes, code, quotes and rules", () => {
    const source =
      "# Why\nIt is\nslow.\n\n- [ ] one\n- [x] two\n  more\n1. first\n> said\n\n```ts\na < b\n```\n---";
    expect(parseMarkdown(source)).toEqual([
      { kind: "head", level: 1, text: "Why" },
      { kind: "text", text: "It is\nslow." },
      {
        kind: "list",
        isOrdered: false,
        items: [
          { text: "one", depth: 0, check: { isDone: false, line: 4 } },
          { text: "two more", depth: 0, check: { isDone: true, line: 5 } },
        ],
      },
      { kind: "list", isOrdered: true, items: [{ text: "first", depth: 0 }] },
      { kind: "quote", text: "said" },
      { kind: "code", text: "a < b", language: "ts" },
      { kind: "rule" },
    ]);
  });

  it("B4 knows marks within a line, and no HTML", () => {
    expect(parseInline("a **b** `c*d*` *e* <img src=x onerror=1> [f](https://x.org/)")).toEqual([
      { kind: "text", text: "a " },
      { kind: "strong", text: "b" },
      { kind: "text", text: " " },
      { kind: "code", text: "c*d*" },
      { kind: "text", text: " " },
      { kind: "em", text: "e" },
      { kind: "text", text: " <img src=x onerror=1> " },
      { kind: "link", text: "f", href: "https://x.org/" },
    ]);
    expect(parseInline("snake_case_name and 2*3*4")).toEqual([
      { kind: "text", text: "snake_case_name and 2*3*4" },
    ]);
  });

  it("links lead to the web only", () => {
    const bad = [
      "javascript:alert(1)",
      "data:text/html,x",
      "/dashboard",
      "file:///etc",
      "https://a:b@x.org",
    ];
    for (const address of bad) expect(safeHref(address), address).toBeUndefined();
    expect(parseInline("[x](javascript:alert)")).toEqual([
      { kind: "text", text: "[x](javascript:alert)" },
    ]);
  });

  it("B4 a box is ticked in its line, and all else stays", () => {
    const source = "- [ ] a\ntext [ ] \n- [X] b";
    expect(tick(source, 0, true)).toBe("- [x] a\ntext [ ] \n- [X] b");
    expect(tick(source, 2, false)).toBe("- [ ] a\ntext [ ] \n- [ ] b");
    expect(countChecks(source)).toEqual({ done: 1, all: 2 });
  });

  it("never fails, and loses no word of any text", () => {
    const pieces = [
      "`",
      "**",
      "*",
      "_",
      "[x](",
      ")",
      "# ",
      "- ",
      "[ ] ",
      "```\n",
      "\n",
      "word",
      "<b>",
      "> ",
      "1. ",
    ];
    let state = 7;
    for (let round = 0; round < 300; round += 1) {
      let text = "";
      for (let at = 0; at < 12; at += 1) {
        state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
        text += pieces[state % pieces.length] ?? "";
      }
      const words = (text.match(/word/g) ?? []).length;
      const kept = JSON.stringify(parseMarkdown(text)).match(/word/g)?.length ?? 0;
      expect(kept, JSON.stringify(text)).toBe(words);
      for (const part of parseInline(text)) expect(part.text).not.toBe("");
    }
  });
});
