import { useEffect, useRef, useState } from "react";
import type { ReviewFile } from "../../api/types";
import { grammarOf } from "./syntax";
import type { Coloured, ColourJob } from "./syntax.worker";
import type { Token } from "./words";

/** The colours of the lines of a file, by what they say. */
export type FileTokens = ReadonlyMap<string, readonly Token[]>;

const idOf = (file: ReviewFile) => `${file.path} ${file.old?.id ?? ""} ${file.new?.id ?? ""}`;

/** Colours of the files that are in sight. They are found beside the page, and come later. */
export function useTokens(
  files: readonly ReviewFile[],
): (file: ReviewFile) => FileTokens | undefined {
  const [known, setKnown] = useState<Known>(() => new Map());
  const worker = useRef<Worker>(undefined);
  const asked = useRef(new Map<string, string[]>());
  const wanted = files.filter((file) => file.hunks.length > 0 && grammarOf(file.path));
  const names = wanted.map(idOf).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: `names` says when other files are in sight
  useEffect(() => {
    if (typeof Worker === "undefined") return;
    worker.current ??= start(asked.current, setKnown);
    for (const file of wanted) {
      const id = idOf(file);
      if (asked.current.has(id)) continue;
      const texts = file.hunks.flatMap((hunk) => hunk.lines.map((line) => line.text));
      const lines = [...new Set(texts)];
      asked.current.set(id, lines);
      worker.current.postMessage({ id, path: file.path, lines } satisfies ColourJob);
    }
  }, [names]);
  useEffect(
    () => () => {
      worker.current?.terminate();
      worker.current = undefined;
      asked.current.clear();
    },
    [],
  );
  return (file) => known.get(idOf(file));
}

type Known = ReadonlyMap<string, FileTokens>;

function start(
  asked: ReadonlyMap<string, string[]>,
  setKnown: (change: (now: Known) => Known) => void,
): Worker {
  const worker = new Worker(new URL("./syntax.worker.ts", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }: MessageEvent<Coloured>) => {
    const lines = asked.get(data.id) ?? [];
    const tokens = new Map(lines.map((line, at) => [line, data.tokens[at] ?? []] as const));
    setKnown((now) => new Map(now).set(data.id, tokens));
  };
  return worker;
}
