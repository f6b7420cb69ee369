import { grammarOf, tokensOf } from "./syntax";
import type { Token } from "./words";

/** Lines of a file that are to be coloured. */
export interface ColourJob {
  id: string;
  path: string;
  lines: string[];
}

/** Their colours, in the same order. */
export interface Coloured {
  id: string;
  tokens: Token[][];
}

self.onmessage = ({ data }: MessageEvent<ColourJob>) => {
  const grammar = grammarOf(data.path);
  const tokens = data.lines.map((line) => (grammar ? tokensOf(line, grammar) : []));
  self.postMessage({ id: data.id, tokens } satisfies Coloured);
};
