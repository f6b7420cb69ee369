import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

/** What a browser does with `light-dark(a, b)`, for those colours that are told as hex. */
function coloursOf(css: string): Record<"light" | "dark", ReadonlyMap<string, string>> {
  const found = [...css.matchAll(/(--[\w-]+):\s*light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)];
  const of = (at: 2 | 3) => new Map(found.map((one) => [one[1] ?? "", one[at] ?? ""] as const));
  return { light: of(2), dark: of(3) };
}

/** How bright a colour is, as WCAG reckons it. */
function brightness(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, bright = 0] = [brightness(one), brightness(other)].toSorted((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
}

/** The colours of words of programs: each class of the style sheet that has one. */
function wordsOf(css: string, theme: "light" | "dark"): ReadonlyMap<string, string> {
  const found = css.matchAll(/\.(\w+) \{\s+color: light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g);
  const at = theme === "light" ? 2 : 3;
  return new Map([...found].map((one) => [one[1] ?? "", one[at] ?? ""]));
}

const read = (path: string) => readFileSync(join(__dirname, path), "utf8");
const tokens = coloursOf(read("tokens.css"));
const lines = read("../features/review/LineView.module.css");
const diff = coloursOf(lines);

describe.each(["light", "dark"] as const)("G17 in the %s theme", (theme) => {
  const colour = (name: string) => {
    const found = tokens[theme].get(name) ?? diff[theme].get(name);
    if (found === undefined) throw new Error(`there is no colour ${name}`);
    return found;
  };
  const names = (start: string) => [...tokens[theme].keys()].filter((one) => one.startsWith(start));

  it("each series of a chart stands out from what it is drawn on", () => {
    const series = names("--series-");
    expect(series.length).toBeGreaterThanOrEqual(6);
    for (const one of series) {
      expect(contrast(colour(one), colour("--surface")), one).toBeGreaterThanOrEqual(3);
    }
  });

  it("no two series are the same", () => {
    const colours = names("--series-").map(colour);
    expect(new Set(colours).size).toBe(colours.length);
  });

  it("text can be read on everything that it stands on", () => {
    for (const text of ["--text", "--text-soft", "--text-faint"]) {
      for (const ground of ["--bg", "--surface", "--inset"]) {
        const how = contrast(colour(text), colour(ground));
        expect(how, `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
      }
    }
  });

  it("a line of a diff can be read, also where its words differ, and its number", () => {
    for (const ground of ["--add-line", "--add-mark", "--del-line", "--del-mark"]) {
      expect(contrast(colour("--text"), colour(ground)), ground).toBeGreaterThanOrEqual(4.5);
    }
    for (const ground of ["--add-line", "--del-line"]) {
      expect(contrast(colour("--text-soft"), colour(ground)), ground).toBeGreaterThanOrEqual(4.5);
    }
  });

  it("each kind of word of a program can be read on a line of a diff", () => {
    const words = wordsOf(lines, theme);
    expect([...words.keys()]).toEqual(["comment", "string", "digits", "keyword", "name"]);
    for (const [kind, one] of words) {
      for (const ground of ["--surface", "--add-line", "--del-line"]) {
        const how = contrast(one, colour(ground));
        expect(how, `${kind} on ${ground}`).toBeGreaterThanOrEqual(4.5);
      }
    }
  });

  it("a state can be read on its own soft ground and on a card", () => {
    for (const tone of ["ok", "warn", "bad", "info"]) {
      for (const ground of [`--${tone}-soft`, "--surface"]) {
        const how = contrast(colour(`--${tone}`), colour(ground));
        expect(how, `${tone} on ${ground}`).toBeGreaterThanOrEqual(4.5);
      }
    }
  });
});
