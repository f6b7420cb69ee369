import { type ReactNode, useId } from "react";
import { Button } from "./Button";
import styles from "./Drawer.module.css";
import { Icon } from "./Icon";
import { useModal } from "./useModal";

interface DrawerProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** Buttons that stay in sight below. */
  foot?: ReactNode;
}

/** A form beside the page; the browser keeps the focus inside, knows Escape and gives it back. */
export function Drawer({ title, onClose, children, foot }: DrawerProps) {
  const dialog = useModal();
  const id = useId();
  return (
    <dialog
      ref={dialog}
      className={styles.drawer}
      aria-labelledby={id}
      onClose={onClose}
      onCancel={(event) => {
        // Who opened it decides: there may be something in it that is not saved.
        event.preventDefault();
        onClose();
      }}
    >
      <header className={styles.head}>
        <h2 id={id}>{title}</h2>
        <Button look="quiet" size="small" isIcon aria-label="Close" onClick={onClose}>
          <Icon name="cross" size={15} />
        </Button>
      </header>
      <div className={styles.body}>{children}</div>
      {foot && <footer className={styles.foot}>{foot}</footer>}
    </dialog>
  );
}

interface SidePanelProps {
  /** What is shown, for a screen reader. */
  label: string;
  head: ReactNode;
  onClose: () => void;
  children: ReactNode;
}

/** A peek at one row beside the list, which stays usable. Close it with `BACK` bound by the page. */
export function SidePanel({ label, head, onClose, children }: SidePanelProps) {
  return (
    <aside className={styles.side} aria-label={label}>
      <header className={styles.head}>
        <div className={styles.title}>{head}</div>
        <Button look="quiet" size="small" isIcon aria-label="Close the panel" onClick={onClose}>
          <Icon name="cross" size={15} />
        </Button>
      </header>
      <div className={styles.body}>{children}</div>
    </aside>
  );
}
