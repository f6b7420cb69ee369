import { useRef, useState } from "react";
import { get } from "../../api/client";
import type { ReviewDiff, ReviewFile, ReviewFileLine, ReviewFileLines } from "../../api/types";
import { toast } from "../../change/toasts";
import { type Expanded, type Gap, gapsOf, type Way, wanted, withLines } from "./expand";
import { reviewPath } from "./queries";

/** How many lines the server tells at once. */
const PAGE = 1_000;
/** More than so many lines are not put into a diff at once. */
const MOST = 10_000;

interface Kept {
  /** The commit that the lines are of; of another one they are others. */
  head: string;
  files: ReadonlyMap<string, Expanded>;
}

/** Lines outside of the hunks that a reader wanted to see. */
export function useExpand(bead: string, diff: ReviewDiff) {
  const [kept, setKept] = useState<Kept>({ head: diff.head, files: new Map() });
  const busy = useRef(new Set<string>());
  const files = kept.head === diff.head ? kept.files : EMPTY;
  const expand = async (file: ReviewFile, at: number, way: Way): Promise<void> => {
    const { head } = diff;
    const known = files.get(file.path);
    const gap = gapsOf(file, known?.total).find((one) => one.at === at);
    const range = gap && wanted(gap, known?.shown.get(at), way);
    const name = `${head} ${file.path} ${at}`;
    if (!range || busy.current.has(name)) return;
    busy.current.add(name);
    try {
      const read = await readLines(bead, { head, path: file.path, ...range });
      setKept((now) => withFile(now, head, file.path, gap, { ...read, isTop: range.isTop }));
    } catch (error) {
      const detail = error instanceof Error ? error.message : undefined;
      toast({ tone: "bad", title: `No more lines of ${file.path} could be read`, detail });
    } finally {
      busy.current.delete(name);
    }
  };
  return { expanded: files, expand };
}

const EMPTY: Kept["files"] = new Map();

function withFile(
  now: Kept,
  head: string,
  path: string,
  gap: Gap,
  read: Parameters<typeof withLines>[2],
): Kept {
  const files = new Map(now.head === head ? now.files : EMPTY);
  files.set(path, withLines(files.get(path), gap, read));
  return { head, files };
}

/** Reads lines of the new side, page by page; `to` may be beyond the end. */
async function readLines(
  bead: string,
  { head, path, from, to }: { head: string; path: string; from: number; to: number },
): Promise<{ lines: ReviewFileLine[]; total: number }> {
  const end = Math.min(to, from + MOST - 1);
  const lines: ReviewFileLine[] = [];
  let next: number | undefined = from;
  let total = 0;
  while (next !== undefined && next <= end) {
    const fields = {
      path,
      side: "new",
      commit: head,
      from: String(next),
      to: String(Math.min(end, next + PAGE - 1)),
    };
    const page: ReviewFileLines = await get(reviewPath(bead, "/lines", fields));
    lines.push(...page.lines);
    total = page.total;
    const last = page.lines.at(-1)?.number;
    next = last !== undefined && last < Math.min(end, total) ? last + 1 : undefined;
  }
  return { lines, total };
}
