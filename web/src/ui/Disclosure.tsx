import { type ReactNode, useId, useState } from "react";
import styles from "./Disclosure.module.css";
import { Icon } from "./Icon";

/** Something rarely needed behind one line. What was typed in it goes when it is closed. */
export function Disclosure({ label, children }: { label: string; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <div className={styles.group}>
      <button
        type="button"
        className={styles.toggle}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="chevron" size={14} />
        {label}
      </button>
      {isOpen && <div id={id}>{children}</div>}
    </div>
  );
}
