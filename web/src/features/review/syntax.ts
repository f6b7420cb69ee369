import type { Token } from "./words";

/** How comments, strings and words of a family of languages look; one line at a time. */
interface Grammar {
  comment: RegExp | undefined;
  /** Signs that begin and end a string. */
  quotes: string;
  keywords: ReadonlySet<string>;
}

const words = (text: string) => new Set(text.split(" "));
const C_LIKE =
  "as async await break case catch class const continue default delete do else enum export extends false final finally for from function if implements import in instanceof interface let namespace new null of package private protected public return static super switch this throw true try type typeof undefined var void while with yield";
const RUST =
  "as async await box break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while";
const GO =
  "break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var";
const PYTHON =
  "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return self True try while with yield";
const SHELL =
  "case do done elif else esac export fi for function if in local return set then until while";
const SYSTEM =
  "auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern false float for goto if inline int long namespace new nullptr operator override private protected public return short signed sizeof static struct switch template this throw true try typedef union unsigned using virtual void volatile while";
const RUBY =
  "and begin class def do else elsif end ensure false for if in module next nil not or require rescue return self super then true unless until when while yield";
const SQL =
  "and as begin by commit create delete drop from group having in index insert into is join key left limit not null on or order primary references select set table union unique update values where AND AS BEGIN BY COMMIT CREATE DELETE DROP FROM GROUP HAVING IN INDEX INSERT INTO IS JOIN KEY LEFT LIMIT NOT NULL ON OR ORDER PRIMARY REFERENCES SELECT SET TABLE UNION UNIQUE UPDATE VALUES WHERE";
const MORE =
  "abstract data def do end fun given lazy match module object open override sealed trait val when";

const SLASHES = /\/\/.*|\/\*.*?(?:\*\/|$)|^\s*\*(?:\s.*|\/)?$/y;
const HASH = /#.*/y;
const DASHES = /--.*/y;
const MARKUP = /<!--.*?(?:-->|$)/y;

const grammar = (comment: RegExp | undefined, quotes: string, keywords: string): Grammar => ({
  comment,
  quotes,
  keywords: words(keywords),
});

const FAMILIES: readonly (readonly [string, Grammar])[] = [
  ["js jsx mjs cjs ts tsx mts cts vue svelte", grammar(SLASHES, "\"'`", C_LIKE)],
  ["java kt kts scala swift dart groovy cs", grammar(SLASHES, "\"'", `${C_LIKE} ${MORE}`)],
  ["rs", grammar(SLASHES, '"', RUST)],
  ["go", grammar(SLASHES, "\"'`", GO)],
  ["c h cc cpp cxx hpp hh m mm proto zig", grammar(SLASHES, "\"'", SYSTEM)],
  ["php", grammar(SLASHES, "\"'", `${C_LIKE} echo foreach use fn`)],
  ["css scss less", grammar(SLASHES, "\"'", "important")],
  ["py pyi", grammar(HASH, "\"'", PYTHON)],
  ["sh bash zsh fish dockerfile makefile", grammar(HASH, "\"'", SHELL)],
  ["rb ex exs", grammar(HASH, "\"'", `${RUBY} ${MORE}`)],
  ["toml yaml yml ini conf tf nix r pl", grammar(HASH, "\"'", "true false null yes no")],
  ["json jsonc json5", grammar(SLASHES, '"', "true false null")],
  ["sql lua hs elm", grammar(DASHES, "\"'", `${SQL} ${MORE}`)],
  ["html xml svg", grammar(MARKUP, "\"'", "")],
];

/** The grammar for a path; none for prose and for what is not known. */
export function grammarOf(path: string): Grammar | undefined {
  const name = path.split("/").at(-1)?.toLowerCase() ?? "";
  const ending = name.includes(".") ? (name.split(".").at(-1) ?? "") : name;
  return FAMILIES.find(([endings]) => endings.split(" ").includes(ending))?.[1];
}

const WORD = /[A-Za-z_$][\w$]*/y;
const NUMBER = /\d[\w.]*/y;
/** Longer lines are no code that somebody reads. */
const LONGEST = 500;

/** The parts of a line that get a colour. */
export function tokensOf(text: string, { comment, quotes, keywords }: Grammar): Token[] {
  const tokens: Token[] = [];
  if (text.length > LONGEST) return tokens;
  const take = (pattern: RegExp, at: number) => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0].length ?? 0;
  };
  const next = (at: number): { length: number; kind: string } => {
    const said = comment ? take(comment, at) : 0;
    if (said > 0) return { length: said, kind: "comment" };
    if (quotes.includes(text[at] ?? "")) return { length: stringAt(text, at), kind: "string" };
    const length = take(WORD, at);
    if (length === 0) return { length: take(NUMBER, at), kind: "digits" };
    if (keywords.has(text.slice(at, at + length))) return { length, kind: "keyword" };
    return { length, kind: text[at + length] === "(" ? "name" : "" };
  };
  for (let at = 0; at < text.length; ) {
    const { length, kind } = next(at);
    if (length > 0 && kind !== "") tokens.push({ from: at, to: at + length, kind });
    at += Math.max(1, length);
  }
  return tokens;
}

/** How long a string is; one that does not end here ends with the line. */
function stringAt(text: string, from: number): number {
  const quote = text[from];
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === quote) return at + 1 - from;
  }
  return text.length - from;
}
