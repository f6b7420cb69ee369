import type { ReactNode } from "react";
import styles from "./JsonText.module.css";

/** A longer text is cut on screen; Copy still gives all of it. */
const MAX_SHOWN_CHARS = 20_000;
const TOKEN =
  /("(?:\\.|[^"\\])*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g;

/** Pretty JSON with quiet colours. */
export function JsonText({ value }: { value: unknown }) {
  const text = JSON.stringify(value, null, 2) ?? "null";
  const isCut = text.length > MAX_SHOWN_CHARS;
  return (
    <pre className={styles.json}>
      {colour(isCut ? text.slice(0, MAX_SHOWN_CHARS) : text)}
      {isCut && `\n... ${text.length - MAX_SHOWN_CHARS} more characters; copy to see all`}
    </pre>
  );
}

function colour(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > end) parts.push(text.slice(end, match.index));
    const [whole, string, colon, number] = match;
    const kind = colon ? styles.key : string ? styles.string : number ? styles.number : styles.word;
    parts.push(
      <span key={match.index} className={kind}>
        {whole}
      </span>,
    );
    end = match.index + whole.length;
  }
  parts.push(text.slice(end));
  return parts;
}
