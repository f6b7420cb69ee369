import { useState } from "react";
import { copyText } from "./clipboard";
import { shortId } from "./format";
import styles from "./ShortId.module.css";

const CONFIRM_MS = 1_200;

/** An id, shortened; a click copies the whole of it. */
export function ShortId({ id }: { id: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (event: React.MouseEvent) => {
    event.preventDefault();
    event.stopPropagation();
    if (!(await copyText(id))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), CONFIRM_MS);
  };
  return (
    <button type="button" className={styles.id} title={`Copy ${id}`} onClick={copy}>
      {isCopied ? "Copied" : shortId(id)}
    </button>
  );
}
