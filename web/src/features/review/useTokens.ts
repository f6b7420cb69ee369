import { useEffect, useRef, useState } from "react";
import type { ReviewFile } from "../../api/types";
import type { Expanded } from "./expand";
import { grammarOf } from "./syntax";
import type { Coloured, ColourJob } from "./syntax.worker";
import type { Token } from "./words";

/** The colours of the lines of a file, by what they say. */
export type FileTokens = ReadonlyMap<string, readonly Token[]>;

const idOf = (file: ReviewFile) => `${file.path} ${file.old?.id ?? ""} ${file.new?.id ?? ""}`;

/** Colours of the files that are in sight. They are found beside the page, and come later. */
export function useTokens(
  files: readonly ReviewFile[],
  expanded: ReadonlyMap<string, Expanded>,
): (file: ReviewFile) => FileTokens | undefined {
  const [known, setKnown] = useState<Known>(() => new Map());
  const worker = useRef<Worker>(undefined);
  const asked = useRef<Asked>({ jobs: new Map(), texts: new Map() });
  const wanted = files.filter((file) => file.hunks.length > 0 && grammarOf(file.path));
  const names = wanted.map(idOf).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: `names` says when other files are in sight
  useEffect(() => {
    if (typeof Worker === "undefined") return;
    worker.current ??= start(asked.current, setKnown);
    for (const file of wanted) {
      const hunks = file.hunks.flatMap((hunk) => hunk.lines.map((line) => line.text));
      const more = [...(expanded.get(file.path)?.lines.values() ?? [])].map((line) => line.text);
      const job = newJob(asked.current, file, [...hunks, ...more]);
      if (job) worker.current.postMessage(job);
    }
  }, [names, expanded]);
  useEffect(
    () => () => {
      worker.current?.terminate();
      worker.current = undefined;
      asked.current = { jobs: new Map(), texts: new Map() };
    },
    [],
  );
  return (file) => known.get(idOf(file));
}

type Known = ReadonlyMap<string, FileTokens>;

/** What the worker was asked for: the lines of each job, and all texts of each file. */
interface Asked {
  jobs: Map<string, { file: string; lines: string[] }>;
  texts: Map<string, Set<string>>;
}

/** Asks for lines whose colours nobody asked for yet. */
function newJob(asked: Asked, file: ReviewFile, texts: readonly string[]): ColourJob | undefined {
  const id = idOf(file);
  const before = asked.texts.get(id) ?? new Set<string>();
  const lines = [...new Set(texts)].filter((text) => !before.has(text));
  if (lines.length === 0) return undefined;
  asked.texts.set(id, new Set([...before, ...lines]));
  const job = `${id} ${asked.jobs.size}`;
  asked.jobs.set(job, { file: id, lines });
  return { id: job, path: file.path, lines };
}

function start(asked: Asked, setKnown: (change: (now: Known) => Known) => void): Worker {
  const worker = new Worker(new URL("./syntax.worker.ts", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }: MessageEvent<Coloured>) => {
    const job = asked.jobs.get(data.id);
    if (!job) return;
    const tokens = job.lines.map((line, at) => [line, data.tokens[at] ?? []] as const);
    setKnown((now) =>
      new Map(now).set(job.file, new Map([...(now.get(job.file) ?? []), ...tokens])),
    );
  };
  return worker;
}
