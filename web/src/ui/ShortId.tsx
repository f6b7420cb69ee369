import { useState } from "react";
import { copyText } from "./clipboard";
import { shortId } from "./format";
import styles from "./ShortId.module.css";

const CONFIRM_MS = 1_200;

/** So many letters at the end tell ids apart; they are seen however narrow the place is. */
const END_CHARS = 7;

interface ShortIdProps {
  id: string;
  /** Shown as long as there is room, not as long as people like to read. */
  isWhole?: boolean;
  /** Whether Tab stops here. Not where there are many and each is found beside its thing as well. */
  isStop?: boolean;
}

/** An id, shortened; a click copies the whole of it. */
export function ShortId({ id, isWhole = false, isStop = true }: ShortIdProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (event: React.MouseEvent) => {
    event.preventDefault();
    event.stopPropagation();
    if (!(await copyText(id))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), CONFIRM_MS);
  };
  const text = isWhole ? id : shortId(id);
  return (
    <button
      type="button"
      className={styles.id}
      tabIndex={isStop ? undefined : -1}
      title={`Copy ${id}`}
      // Its two parts are one word, for who hears it as well.
      aria-label={isCopied ? undefined : text}
      onClick={copy}
    >
      {isCopied ? "Copied" : text.length > 2 * END_CHARS ? <Fitting text={text} /> : text}
    </button>
  );
}

/** A text whose end stays when there is no room for all of it. */
function Fitting({ text }: { text: string }) {
  return (
    <>
      <span className={styles.start}>{text.slice(0, -END_CHARS)}</span>
      <span>{text.slice(-END_CHARS)}</span>
    </>
  );
}
