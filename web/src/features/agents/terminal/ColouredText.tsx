import { classes } from "../../../ui/classes";
import styles from "./ColouredText.module.css";
import type { Run } from "./runs";
import { coloursOf, PLAIN, type Style } from "./style";

/** Text with its colours; it is never read as HTML. */
export function ColouredText({ runs }: { runs: readonly Run[] }) {
  return runs.map(({ text, style }, at) =>
    style === PLAIN ? (
      text
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a line have nothing but their place
      <span key={at} className={lookOf(style)} style={coloursOf(style)}>
        {text}
      </span>
    ),
  );
}

function lookOf({ bold, italic, underline, strike, hidden }: Style): string {
  return classes(
    bold && styles.bold,
    italic && styles.italic,
    underline && styles.underline,
    strike && styles.strike,
    hidden && styles.hidden,
  );
}
