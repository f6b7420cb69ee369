import { type ReactNode, useId } from "react";
import { classes } from "./classes";
import styles from "./Dialog.module.css";
import { useModal } from "./useModal";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** For what needs two columns. */
  isWide?: boolean;
}

/** A question in front of the page; the browser keeps the focus inside and knows Escape. */
export function Dialog({ title, onClose, children, isWide = false }: DialogProps) {
  const dialog = useModal();
  const id = useId();
  return (
    <dialog
      ref={dialog}
      className={classes(styles.dialog, isWide && styles.wide)}
      aria-labelledby={id}
      onClose={onClose}
    >
      <h2 id={id} className={styles.title}>
        {title}
      </h2>
      {children}
    </dialog>
  );
}
