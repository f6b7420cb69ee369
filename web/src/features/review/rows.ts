import type { ReviewComment, ReviewFile, ReviewHunk, ReviewLine } from "../../api/types";
import type { FlowItem } from "../../ui/flow/flow";
import { type Expanded, type Gap, gapsOf, hiddenIn, shownLines } from "./expand";
import { type Stretch, stretchesOf } from "./space";

/** A line, on one side or below each other; in a split view either side may be empty. */
export interface LineRow {
  kind: "line";
  hunk: ReviewHunk;
  left: ReviewLine | undefined;
  right: ReviewLine | undefined;
  /** Only white space differs, and nobody wants to see that. */
  isSpace: boolean;
}

/** Where a comment is being written. */
export interface Spot {
  path: string;
  side: "old" | "new";
  line: number;
}

/** What is below the head of a file. */
export type RowBody =
  | LineRow
  | { kind: "head" }
  | { kind: "gap" }
  | { kind: "part" }
  | { kind: "note"; text: string }
  | { kind: "picture" }
  | { kind: "hunk"; hunk: ReviewHunk; isOld: boolean }
  | { kind: "expand"; at: number; hidden: number | undefined }
  | { kind: "edited"; hunk: ReviewHunk; text: string }
  | { kind: "editor"; hunk: ReviewHunk }
  | { kind: "thread"; first: ReviewComment; answers: ReviewComment[] }
  | { kind: "compose"; spot: Spot };

export type DiffRow = FlowItem & RowBody & { file: ReviewFile };

/** A file and the rows that it has, its head included. */
export interface FileRows {
  file: ReviewFile;
  first: number;
  end: number;
}

/** How a reader looks at a change. */
export interface Look {
  isSplit: boolean;
  hidesSpace: boolean;
  /** Files that are folded. */
  isFolded: (file: ReviewFile) => boolean;
  comments: readonly ReviewComment[];
  /** What a person wrote instead, by the key of the hunk. */
  edits: ReadonlyMap<string, string>;
  editing: string | undefined;
  composing: Spot | undefined;
  /** Lines outside of the hunks that the reader wanted to see, by the path of the file. */
  expanded?: ReadonlyMap<string, Expanded>;
  /** Whether a part was there before the last round: only its bar is shown then. */
  isOld?: (key: string) => boolean;
}

/** Heights before they are measured. */
export const HEIGHT = {
  head: 40,
  line: 20,
  hunk: 37,
  expand: 29,
  note: 44,
  picture: 240,
  thread: 96,
  compose: 150,
} as const;
/** Room between two files. */
export const GAP = 12;

/** Everything that is below each other in the diff, one row after the other. */
export function rowsOf(
  files: readonly ReviewFile[],
  look: Look,
): { rows: DiffRow[]; files: FileRows[] } {
  const rows: DiffRow[] = [];
  const spans: FileRows[] = [];
  const threads = threadsOf(look.comments);
  for (const file of files) {
    const first = rows.length;
    const add = (key: string, estimate: number, body: RowBody) =>
      rows.push({ key: keyIn(file.path, key), estimate, file, ...body });
    add("head", HEIGHT.head, { kind: "head" });
    if (!look.isFolded(file)) addBody(file, look, threads.get(file.path) ?? [], add);
    spans.push({ file, first, end: rows.length });
    add("gap", GAP, { kind: "gap" });
  }
  return { rows, files: spans };
}

const keyIn = (path: string, key: string) => `${path}\u0000${key}`;

/** The row that is the head of a file. */
export function headKey(path: string): string {
  return keyIn(path, "head");
}

type Add = (key: string, estimate: number, body: RowBody) => void;
interface Thread {
  first: ReviewComment;
  answers: ReviewComment[];
}

function addBody(file: ReviewFile, look: Look, threads: readonly Thread[], add: Add): void {
  if (file.key != null) add("part", HEIGHT.hunk, { kind: "part" });
  const note = noteOf(file);
  if (isPicture(file)) add("picture", HEIGHT.picture, { kind: "picture" });
  else if (note !== undefined) add("note", HEIGHT.note, { kind: "note", text: note });
  const addThread = (thread: Thread) =>
    add(`thread ${thread.first.id}`, HEIGHT.thread, { kind: "thread", ...thread });
  // What is about the file, or about a line that is not in the change any more.
  const isLoose = ({ first }: Thread) => first.line == null || first.line === 0;
  for (const thread of threads.filter(isLoose)) addThread(thread);
  const anchored = threads.filter((thread) => !isLoose(thread));
  const shown = new Set<string>();
  const addLine = (key: string, row: LineRow) => {
    add(key, HEIGHT.line, row);
    for (const thread of anchored.filter((one) => isAt(row, one.first.side, one.first.line))) {
      shown.add(thread.first.id);
      addThread(thread);
    }
    const { composing } = look;
    if (composing?.path === file.path && isAt(row, composing.side, composing.line)) {
      add("compose", HEIGHT.compose, { kind: "compose", spot: composing });
    }
  };
  const gaps = gapRows(file, look, add, addLine);
  for (const [at, hunk] of file.hunks.entries()) {
    const addAbove = gaps(at, hunk);
    const isOld = look.isOld?.(hunk.key) ?? false;
    add(`hunk ${hunk.key}`, HEIGHT.hunk, { kind: "hunk", hunk, isOld });
    const text = look.edits.get(hunk.key);
    if (look.editing === hunk.key) add(`editor ${hunk.key}`, 200, { kind: "editor", hunk });
    else if (text !== undefined) {
      const height = 34 + HEIGHT.line * text.split("\n").length;
      add(`edited ${hunk.key}`, height, { kind: "edited", hunk, text });
    }
    addAbove();
    if (isOld) continue;
    for (const [index, row] of lineRows(hunk, look).entries()) {
      addLine(`${look.isSplit ? "s" : "u"} ${hunk.key} ${index}`, row);
    }
  }
  const last = file.hunks.at(-1);
  if (last) gaps(file.hunks.length, last);
  // A line that is the same before and after is in no hunk, but what was said about it counts.
  for (const thread of anchored.filter((one) => !shown.has(one.first.id))) addThread(thread);
}

/**
 * Adds what lies between two hunks: the lines below the one before, and a bar for what is left out.
 * Returns how to add those above the next hunk, which stand below its bar.
 */
function gapRows(file: ReviewFile, look: Look, add: Add, addLine: (k: string, r: LineRow) => void) {
  const expanded = look.expanded?.get(file.path);
  const gaps = new Map<number, Gap>(gapsOf(file, expanded?.total).map((gap) => [gap.at, gap]));
  return (at: number, hunk: ReviewHunk): (() => void) => {
    const gap = gaps.get(at);
    if (!gap) return () => {};
    const { above, below } = shownLines(gap, expanded);
    const addAll = (lines: readonly ReviewLine[]) => {
      for (const line of lines) {
        const row = { hunk, left: line, right: line, isSpace: false };
        addLine(`more ${line.new ?? 0}`, { kind: "line", ...row });
      }
    };
    addAll(above);
    const hidden = hiddenIn(gap, expanded?.shown.get(at));
    if (hidden !== 0) add(`expand ${at}`, HEIGHT.expand, { kind: "expand", at, hidden });
    return () => addAll(below);
  };
}

function isAt(row: LineRow, side?: string | null, line?: number | null): boolean {
  if (line == null) return false;
  return side === "old" ? row.left?.old === line : row.right?.new === line;
}

/** The lines of a hunk, side by side or below each other. */
export function lineRows(
  hunk: ReviewHunk,
  { isSplit, hidesSpace }: Pick<Look, "isSplit" | "hidesSpace">,
): LineRow[] {
  const row = (left?: ReviewLine, right?: ReviewLine): LineRow => {
    return { kind: "line", hunk, left, right, isSpace: false };
  };
  if (hidesSpace) {
    return stretchesOf(hunk.lines).flatMap((stretch) => rowsOfStretch(stretch, isSplit, row));
  }
  const pairs = hunk.rows ?? [];
  if (isSplit && pairs.length > 0) {
    const at = (index?: number | null) => (index == null ? undefined : hunk.lines[index]);
    return pairs.map((pair) => row(at(pair.old), at(pair.new)));
  }
  return hunk.lines.map((line) =>
    row(line.kind === "added" ? undefined : line, line.kind === "removed" ? undefined : line),
  );
}

/** What differs, then the line that is the same: of the two that are, the one that is there now. */
function rowsOfStretch(
  { removed, added, same }: Stretch,
  isSplit: boolean,
  row: (left?: ReviewLine, right?: ReviewLine) => LineRow,
): LineRow[] {
  const height = Math.max(removed.length, added.length);
  const differing = isSplit
    ? Array.from({ length: height }, (_, at) => row(removed[at], added[at]))
    : [...removed.map((line) => row(line)), ...added.map((line) => row(undefined, line))];
  if (!same) return differing;
  const { left, right } = same;
  return [...differing, { ...row(left, right), isSpace: left !== right }];
}

/** Comments with their answers, by file; what is about everything is under the empty name. */
export function threadsOf(comments: readonly ReviewComment[]): Map<string, Thread[]> {
  const threads = new Map<string, Thread[]>();
  const byId = new Map<string, Thread>();
  for (const comment of comments) {
    const parent = comment.replyTo == null ? undefined : byId.get(comment.replyTo);
    if (parent) {
      parent.answers.push(comment);
      continue;
    }
    const thread = { first: comment, answers: [] };
    byId.set(comment.id, thread);
    const path = comment.path ?? "";
    threads.set(path, [...(threads.get(path) ?? []), thread]);
  }
  return threads;
}

/** Whether a file is a picture that can be shown; an SVG is text, and a program as much as a picture. */
export function isPicture({ path, binary }: Pick<ReviewFile, "path" | "binary">): boolean {
  return binary && /\.(png|jpe?g|gif|webp)$/i.test(path);
}

/** Why no lines of a file are shown. */
export function noteOf(file: ReviewFile): string | undefined {
  if (file.binary) return "A binary file has no lines to show; it is decided as a whole.";
  if (file.cut) return "Too many lines to show; the file is decided as a whole.";
  if (file.hunks.length > 0) return undefined;
  if (file.status === "renamed") return "Only the name is another.";
  if (file.status === "copied") return "It is a copy; no line is another.";
  if (file.status === "mode_changed") return "Only the mode is another.";
  return "The file is empty.";
}

/** The text that an editor begins with: what the hunk says now, from its first change to its last. */
export function editableText(hunk: ReviewHunk): string {
  const changed = hunk.lines.filter((line) => line.at != null);
  const first = hunk.lines.findIndex((line) => line.kind !== "context");
  const last = hunk.lines.findLastIndex((line) => line.kind !== "context");
  if (changed.length === 0 || first < 0) return "";
  const kept = hunk.lines.slice(first, last + 1).filter((line) => line.kind !== "removed");
  const text = kept.map((line) => line.text).join("\n");
  const isWhole = kept.length === 0 || kept.at(-1)?.noNewline === true;
  return isWhole ? text : `${text}\n`;
}

/** Keys of everything that can be decided, in order. */
export function partKeys(files: readonly ReviewFile[]): string[] {
  return files.flatMap((file) => [
    ...(file.key == null ? [] : [file.key]),
    ...file.hunks.map((hunk) => hunk.key),
  ]);
}
