import type { Row } from "./grid";
import { Screen } from "./screen";
import { PLAIN, type Style } from "./style";

/** Characters beside each other that look the same. */
export interface Run {
  text: string;
  style: Style;
}

/** A line in as few pieces as it has looks. */
export function runsOf({ chars, styles }: Pick<Row, "chars" | "styles">): Run[] {
  const runs: Run[] = [];
  let last: Run | undefined;
  chars.forEach((char, at) => {
    const style = styles[at] ?? PLAIN;
    if (last?.style === style) {
      last.text += char;
    } else {
      last = { text: char, style };
      runs.push(last);
    }
  });
  return runs;
}

const WIDEST = 2_000;

/** Text with colours as programs print them; most text has none. */
export function colouredRuns(text: string): Run[] {
  if (!text.includes("\x1b")) return [{ text, style: PLAIN }];
  const screen = new Screen(WIDEST, 1, 10_000);
  screen.writeText(text.replace(/\r?\n/g, "\r\n"));
  return screen.lines.flatMap((row, at) => [
    ...(at > 0 ? [{ text: "\n", style: PLAIN }] : []),
    ...runsOf(row),
  ]);
}
