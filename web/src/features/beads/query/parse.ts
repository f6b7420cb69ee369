import { PRIORITIES, STATUSES, TYPES } from "../looks";

/** Fields that a query can name, and the words that they take; without words any will do. */
export const FIELDS: Record<string, { hint: string; words?: readonly string[] }> = {
  status: { hint: "how far it is", words: STATUSES },
  priority: { hint: "how urgent it is", words: PRIORITIES },
  type: { hint: "what kind of work", words: TYPES },
  agent: { hint: "who works on it; none, me or a name" },
  blocked: { hint: "whether something holds it up", words: ["yes", "no"] },
  label: { hint: "a word to find it by" },
  convoy: { hint: "the convoy it is in, or none" },
  parent: { hint: "the bead it is a part of, or none" },
  updated: { hint: "changed within (<2d) or before (>2d)" },
  created: { hint: "made within (<2d) or before (>2d)" },
};
const AGES = new Set(["updated", "created"]);
const UNITS: Record<string, number> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** One condition of a query; all must hold, of several values of a field any will do. */
export type Term =
  | { kind: "text"; text: string; isNot: boolean }
  | { kind: "field"; field: string; values: readonly string[]; isNot: boolean }
  | { kind: "age"; field: "updated" | "created"; isWithin: boolean; ms: number; isNot: boolean };

/** What is wrong, and under which letters of the query. */
export interface QueryError {
  start: number;
  end: number;
  message: string;
  /** Nothing that is written behind it makes it right. */
  isFinal?: boolean;
}

export interface Parsed {
  terms: Term[];
  errors: QueryError[];
  /** The words that could be read, as they were typed: what a server can be asked. */
  sound: string;
}

/** A word of a query: where it is, and what it says without quotes. */
export interface Word {
  start: number;
  end: number;
  text: string;
  isQuoted: boolean;
}

type Wrong = Pick<QueryError, "message" | "isFinal">;

/** Splits a query at spaces; quotes hold words together. */
export function wordsOf(query: string): Word[] {
  const words: Word[] = [];
  for (const found of query.matchAll(/(?:"[^"]*"?|[^\s"])+/g)) {
    const [text] = found;
    const start = found.index;
    const isQuoted = text.startsWith('"');
    words.push({ start, end: start + text.length, text: text.replaceAll('"', ""), isQuoted });
  }
  return words;
}

/** The words of a text without marks, accents and capitals, as the server's search knows them. */
export function plainWords(text: string): string[] {
  const plain = text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.match(/[\p{L}\p{N}\p{Co}]+/gu) ?? [];
}

/** Reads a query such as `status:open agent:none updated:<2d login`. It never fails as a whole. */
export function parseQuery(query: string): Parsed {
  const terms: Term[] = [];
  const errors: QueryError[] = [];
  const sound: string[] = [];
  for (const word of wordsOf(query)) {
    const { start, end } = word;
    const read = readWord(word);
    if ("message" in read) errors.push({ start, end, ...read });
    else if (read.kind !== "text" || read.text !== "") {
      terms.push(read);
      sound.push(query.slice(start, end));
    }
  }
  return { terms, errors, sound: sound.join(" ") };
}

function readWord({ text: whole, isQuoted }: Word): Term | Wrong {
  const isNot = !isQuoted && whole.length > 1 && whole.startsWith("-");
  const text = isNot ? whole.slice(1) : whole;
  const colon = isQuoted ? -1 : text.indexOf(":");
  // An address or a time is text; a field is one word of letters.
  if (colon <= 0 || !/^[a-z]+$/i.test(text.slice(0, colon)) || text.startsWith("//", colon + 1)) {
    return { kind: "text", text: plainWords(text).join(" "), isNot };
  }
  const field = text.slice(0, colon).toLowerCase();
  const value = text.slice(colon + 1);
  const known = FIELDS[field];
  if (!known) {
    const meant = nearest(field, Object.keys(FIELDS));
    return { message: `There is no field ${field}.${meant}`, isFinal: true };
  }
  if (value === "") return { message: `${field} needs a value.` };
  if (AGES.has(field)) return readAge(field as "updated" | "created", value, isNot);
  const values = value
    .split(",")
    .filter((one) => one !== "")
    .map((one) => one.toLowerCase());
  const { words } = known;
  const wrong = values.find((one) => words && !words.includes(one));
  if (words && wrong !== undefined) {
    return { message: `${field} is ${list(words)}.${nearest(wrong, words)}` };
  }
  if (values.length === 0) return { message: `${field} needs a value.` };
  return { kind: "field", field, values, isNot };
}

function readAge(field: "updated" | "created", value: string, isNot: boolean) {
  const [, sign, number, unit = ""] = /^([<>])(\d{1,5})([mhdw])$/i.exec(value) ?? [];
  const ms = UNITS[unit.toLowerCase()];
  if (ms === undefined) return { message: `${field} takes an age such as <2d, >3h or <1w.` };
  return { kind: "age", field, isWithin: sign === "<", ms: Number(number) * ms, isNot } as const;
}

function list(words: readonly string[]): string {
  return `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

function nearest(word: string, words: readonly string[]): string {
  const found = words.find((one) => one.startsWith(word.slice(0, 2)));
  return found ? ` Did you mean ${found}?` : "";
}
