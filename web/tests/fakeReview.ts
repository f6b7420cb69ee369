import type { Landing, ReviewComment, ReviewFile, ReviewHunk, ReviewLine } from "../src/api/types";

/** Lines as they are written in a patch: ` same`, `-gone`, `+new`. */
export function fakeHunk(patch: readonly string[], special: Partial<ReviewHunk> = {}): ReviewHunk {
  let [old, now] = [0, 0];
  const differs = (line: string) => !line.startsWith(" ");
  const first = patch.findIndex(differs);
  const last = patch.findLastIndex(differs);
  const lines = patch.map((text, index): ReviewLine => {
    const kind = { " ": "context", "-": "removed", "+": "added" }[text[0] ?? " "] ?? "context";
    if (kind !== "added") old += 1;
    if (kind !== "removed") now += 1;
    return {
      kind,
      text: text.slice(1),
      old: kind === "added" ? null : old,
      new: kind === "removed" ? null : now,
      at: index >= first && index <= last ? index - first + 1 : null,
    };
  });
  return {
    number: 1,
    key: "h1",
    standing: "undecided",
    header: "",
    oldStart: 1,
    oldLen: old,
    newStart: 1,
    newLen: now,
    lines,
    rows: pairs(lines),
    ...special,
  };
}

/** What is gone stands beside what came for it, in order. */
function pairs(lines: readonly ReviewLine[]): NonNullable<ReviewHunk["rows"]> {
  const rows: NonNullable<ReviewHunk["rows"]> = [];
  let [gone, came]: [number[], number[]] = [[], []];
  const flush = () => {
    for (let at = 0; at < Math.max(gone.length, came.length); at += 1) {
      rows.push({ old: gone[at] ?? null, new: came[at] ?? null });
    }
    [gone, came] = [[], []];
  };
  for (const [index, line] of lines.entries()) {
    if (line.kind === "removed") gone.push(index);
    else if (line.kind === "added") came.push(index);
    else {
      flush();
      rows.push({ old: index, new: index });
    }
  }
  flush();
  return rows;
}

export function fakeFile(special: Partial<ReviewFile> = {}): ReviewFile {
  return {
    number: 0,
    path: "src/main.rs",
    status: "modified",
    binary: false,
    generated: false,
    cut: false,
    entire: false,
    added: 1,
    removed: 1,
    hunks: [fakeHunk([" same", "-gone", "+new", " same"])],
    ...special,
  };
}

export function fakeComment(special: Partial<ReviewComment> = {}): ReviewComment {
  return {
    id: "c1",
    by: "user:ann",
    at: "2026-11-15T10:00:00Z",
    text: "Why?",
    path: "src/main.rs",
    side: "new",
    line: 2,
    commit: "abc",
    ...special,
  };
}

export function fakeLanding(special: Partial<Landing> = {}): Landing {
  return {
    bead: "app-1",
    title: "Say hello",
    projectId: "p1",
    stage: "waiting",
    landed: false,
    source: "abc",
    files: [],
    asked: "person",
    gates: [],
    addedAt: "2026-11-15T10:00:00Z",
    ...special,
  };
}
