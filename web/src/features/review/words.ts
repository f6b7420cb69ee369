import type { ReviewMark } from "../../api/types";

/** A part of a line that is drawn in one way. */
export interface Piece {
  text: string;
  /** Whether it differs from the line that it stands for. */
  isMarked: boolean;
  /** What it is in its language, such as `keyword`. */
  token?: string | undefined;
  /** A sign that nobody would see, or that turns the line around; shown by its number. */
  isHidden?: boolean;
}

/** A stretch of a line in one colour; counted in characters of JavaScript. */
export interface Token {
  from: number;
  to: number;
  kind: string;
}

/** More of a line is not drawn: a minified file would stop the browser. */
export const LINE_MAX = 2_000;

/** Signs that are invisible or change the direction of text, so that code is not what it seems. */
const HIDDEN = /[\p{Cc}\p{Cf}]/u;
/** The only ones of them that belong into a line. */
const HARMLESS = new Set(["\t"]);

const encoder = new TextEncoder();

/** Where bytes of UTF-8 begin and end in characters of JavaScript. */
export function charMarks(text: string, marks: readonly ReviewMark[]): ReviewMark[] {
  if (marks.length === 0) return [];
  const isPlain = encoder.encode(text).length === text.length;
  if (isPlain) return [...marks];
  const starts = new Map<number, number>();
  let bytes = 0;
  let chars = 0;
  for (const sign of text) {
    starts.set(bytes, chars);
    bytes += encoder.encode(sign).length;
    chars += sign.length;
  }
  starts.set(bytes, chars);
  return marks.map(({ from, to }) => ({
    from: starts.get(from) ?? chars,
    to: starts.get(to) ?? chars,
  }));
}

/** Cuts a line into the parts that are drawn differently. */
export function piecesOf(
  text: string,
  marks: readonly ReviewMark[],
  tokens: readonly Token[] = [],
): Piece[] {
  const shown = text.slice(0, LINE_MAX);
  const marked = charMarks(text, marks);
  const edges = new Set([0, shown.length]);
  for (const { from, to } of [...marked, ...tokens]) edges.add(from).add(to);
  const cuts = [...edges].filter((at) => at <= shown.length).sort((a, b) => a - b);
  const pieces: Piece[] = [];
  for (const [index, from] of cuts.entries()) {
    const to = cuts[index + 1];
    if (to === undefined || to === from) continue;
    const covers = (one: { from: number; to: number }) => one.from <= from && one.to >= to;
    const look = { isMarked: marked.some(covers), token: tokens.find(covers)?.kind };
    pieces.push(...withHidden(shown.slice(from, to), look));
  }
  return pieces;
}

function withHidden(text: string, look: Omit<Piece, "text">): Piece[] {
  if (!HIDDEN.test(text)) return [{ text, ...look }];
  return text
    .split(new RegExp(`(${HIDDEN.source})`, "u"))
    .filter((part) => part !== "")
    .map((part) => {
      if (!HIDDEN.test(part) || HARMLESS.has(part)) return { text: part, ...look };
      const code = (part.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      return { text: `U+${code}`, ...look, isHidden: true };
    });
}

/** What a line says to somebody who does not look at white space. */
export function withoutSpace(text: string): string {
  return text.replace(/\s+/g, "");
}
