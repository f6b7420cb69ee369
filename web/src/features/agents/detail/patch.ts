import type { ShownFile } from "./Changes";

type Hunk = ShownFile["hunks"][number];

/** Reads what git writes about a change into files and their lines. */
export function filesOf(patch: string): ShownFile[] {
  const files: ShownFile[] = [];
  let hunk: Hunk | undefined;
  let places = { old: 0, new: 0, oldLeft: 0, newLeft: 0 };
  for (const line of patch.split("\n")) {
    const file = files.at(-1);
    // Inside a hunk every line is counted: a removed "-- a" looks like a head otherwise.
    if (file && hunk && (places.oldLeft > 0 || places.newLeft > 0)) {
      places = addLine(file, hunk, line, places);
    } else if (line.startsWith("diff --git ")) {
      files.push(emptyFile(line));
      hunk = undefined;
    } else if (file) {
      const [, oldStart, oldLen = "1", newStart, newLen = "1"] =
        /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
      if (oldStart === undefined || newStart === undefined) {
        readHead(file, line);
        continue;
      }
      hunk = { key: line + file.hunks.length, newStart: Number(newStart), lines: [] };
      (file.hunks as Hunk[]).push(hunk);
      places = {
        old: Number(oldStart),
        new: Number(newStart),
        oldLeft: Number(oldLen),
        newLeft: Number(newLen),
      };
    }
  }
  return files;
}

interface Places {
  old: number;
  new: number;
  oldLeft: number;
  newLeft: number;
}

function addLine(file: ShownFile, hunk: Hunk, line: string, at: Places): Places {
  const text = line.slice(1);
  const lines = hunk.lines as Hunk["lines"][number][];
  if (line.startsWith("\\")) return at;
  if (line.startsWith("+")) {
    lines.push({ kind: "added", text, new: at.new });
    file.added += 1;
    return { ...at, new: at.new + 1, newLeft: at.newLeft - 1 };
  }
  if (line.startsWith("-")) {
    lines.push({ kind: "removed", text, old: at.old });
    file.removed += 1;
    return { ...at, old: at.old + 1, oldLeft: at.oldLeft - 1 };
  }
  lines.push({ kind: "context", text, old: at.old, new: at.new });
  return {
    old: at.old + 1,
    new: at.new + 1,
    oldLeft: at.oldLeft - 1,
    newLeft: at.newLeft - 1,
  };
}

function emptyFile(head: string): ShownFile {
  const path = / b\/(.*)$/.exec(head)?.[1] ?? head.slice("diff --git ".length);
  const rest = { generated: false, binary: false, cut: false, added: 0, removed: 0 };
  return { path, status: "modified", ...rest, hunks: [] };
}

/** The lines between the name of a file and its first hunk. */
function readHead(file: ShownFile, line: string): void {
  if (line.startsWith("new file mode")) file.status = "added";
  if (line.startsWith("deleted file mode")) file.status = "deleted";
  if (line.startsWith("rename to ")) {
    file.status = "renamed";
    file.path = line.slice("rename to ".length);
  }
  if (line.startsWith("Binary files ") || line === "GIT binary patch") file.binary = true;
}
